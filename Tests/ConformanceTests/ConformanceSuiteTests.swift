// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

/// The suite itself: complete, unambiguous, written down.
@Suite(.timeLimit(.minutes(1)))
struct ConformanceSuiteTests {
    @Test("There are more than a hundred cases, each with a name and a rule of its own")
    func cases() {
        let cases = ConformanceSuite.cases
        #expect(cases.count >= 100)
        let names = Dictionary(grouping: cases, by: \.name)
        #expect(names.filter { $0.value.count > 1 }.keys.sorted() == [])
        #expect(cases.allSatisfy { !$0.rule.isEmpty && $0.name.count > 10 })
        #expect(ConformanceCase.Group.allCases.allSatisfy { !ConformanceSuite.cases(of: $0).isEmpty })
        #expect(ConformanceEngine.mock.cases.count >= 50)
    }

    @Test("A deviation names a case, once, and a reason")
    func deviations() {
        let names = Set(ConformanceSuite.cases.map(\.name))
        for deviation in ConformanceSuite.deviations {
            #expect(names.contains(deviation.caseName), "\(deviation)")
            #expect(deviation.reason.hasSuffix("."))
        }
        let listed = ConformanceSuite.deviations.map { $0.engine + $0.caseName }
        #expect(Set(listed).count == listed.count)
    }

    @Test("A case whose server is missing names it, and does not pass")
    func missingServer() async throws {
        let needy = try #require(ConformanceSuite.cases.first { $0.needs.contains(.unixSocket) })
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await needy.run(on: .mock, in: ConformanceEnvironment())
        }
        #expect(failure?.message.contains("unixSocket") == true)
        #expect(failure?.message.contains(needy.name) == true)
    }

    @Test("A transport that misbehaves fails the case, with what came instead")
    func detection() async throws {
        let wrong = ConformanceEngine("wrong") { _ in
            MockTransport.answering { _ in .text("something else", status: HTTPStatus(298)) }
        } shutDown: { _, _ in
        }
        for group in [ConformanceCase.Group.policies, .responseHeads, .framing, .timeouts, .interruptions] {
            for one in ConformanceSuite.cases(of: group) {
                await #expect(throws: ConformanceFailure.self, "\(one)") {
                    try await one.run(on: wrong, in: ConformanceEnvironment(), within: .seconds(1))
                }
            }
        }
    }

    @Test("The page in the documentation is that of the code")
    func documentation() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let page = root.appendingPathComponent("Documentation/Conformance.md")
        if ProcessInfo.processInfo.environment["CURLEW_UPDATE_DOCUMENTATION"] != nil {
            try Data(ConformanceReport.markdown.utf8).write(to: page)
        }
        let written = try String(contentsOf: page, encoding: .utf8)
        #expect(
            written == ConformanceReport.markdown,
            "out of date: CURLEW_UPDATE_DOCUMENTATION=1 swift test --filter ConformanceTests writes it")
    }
}
