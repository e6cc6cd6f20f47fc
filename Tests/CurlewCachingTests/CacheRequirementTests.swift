// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CacheRequirementTests {
    @Test(arguments: CacheSuite.requirements)
    func everyRequirementIsMet(_ one: CacheCase) async throws {
        try await one.run(on: .memory)
    }

    @Test
    func namesAreUnique() {
        let names = CacheSuite.requirements.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count > 100)
    }

    @Test
    func everyRequirementIsInTheDocumentation() throws {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        let page = folder.appendingPathComponent("Documentation/Curlew.docc/Articles/Caching.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let mark = "<!-- requirements -->\n"
        let begin = try #require(text.range(of: mark))
        let rows = CacheSuite.requirements.map { one in
            "| \(one.rule) | \(one.name.replacingOccurrences(of: "|", with: "\\|")) |"
        }
        let table = (["", "| Where from | Test |", "|---|---|"] + rows).joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["CURLEW_UPDATE_DOCUMENTATION"] != nil {
            try (text[..<begin.upperBound] + table).write(to: page, atomically: true, encoding: .utf8)
        } else {
            #expect(text[begin.upperBound...] == table, "run with CURLEW_UPDATE_DOCUMENTATION=1")
        }
    }
}
