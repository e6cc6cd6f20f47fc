// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import ConformanceCases
import Testing

/// Transports that do not survive: what came of each case is known all the same.
@Suite(.timeLimit(.minutes(1)))
struct IsolatedRunTests {
    private static let names = ConformanceSuite.cases(of: .policies).prefix(3).map(\.name)

    @Test("A case that ends its process is distinguished from the others, which run after it")
    func crash() async throws {
        let outcomes = try await IsolatedRun.outcomes(of: Self.names) { names in
            let result = try await #require(
                processExitsWith: .success, observing: [\.standardOutputContent]
            ) { [names = names as [String]] in
                await IsolatedRun.run(names, on: .crashing, in: ConformanceEnvironment())
            }
            return String(decoding: result.standardOutputContent, as: UTF8.self)
        }
        #expect(outcomes.count == 3)
        #expect(outcomes.values.allSatisfy { $0 == .died("crashed") }, "\(outcomes)")
    }

    @Test("Failures come with their message, and successes pass")
    func failure() async throws {
        let (good, bad) = ("began\ta\t\npassed\ta\t\nbegan\tb\t\n", "failed\tb\tit is 1,\texpected was 2\n")
        let outcomes = try await IsolatedRun.outcomes(of: ["a", "b"]) { _ in "noise\n" + good + bad }
        #expect(outcomes == ["a": .passed, "b": .failed("it is 1,\texpected was 2")])
    }

    @Test("A silent child counts as dead, and one that never begins is not started forever")
    func silence() async throws {
        let starts = Locked(0)
        let outcomes = try await IsolatedRun.outcomes(of: ["a", "b"]) { names in
            starts.withLock { $0 += 1 }
            return names.contains("a") ? "began\ta\t\n" : ""
        }
        #expect(outcomes == ["a": .died("ended without a word")])
        #expect(starts.withLock { $0 } == 2)
    }
}

extension ConformanceEngine {
    fileprivate static let crashing = ConformanceEngine("crashing") { _ in
        ClosureTransport { _, _ in abort() }
    } shutDown: { _, _ in
    }
}
#endif
