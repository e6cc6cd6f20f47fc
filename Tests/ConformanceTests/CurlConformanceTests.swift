// SPDX-License-Identifier: MIT

#if os(Linux)
import ConformanceCases
import CurlewCurl
import TestServers
import Testing

/// Every case, on the transport that Linux has by default.
@Suite(.timeLimit(.minutes(3)))
struct CurlConformanceTests {
    @Test("CurlTransport conforms", arguments: ConformanceEngine.curl.cases)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        let environment = try await ConformanceServers.shared().environment
        guard let deviation = ConformanceSuite.deviations(of: .curl)[conformanceCase.name], isAboutThis(deviation)
        else {
            return try await conformanceCase.run(on: .curl, in: environment)
        }
        await withKnownIssue("\(deviation)", isIntermittent: deviation.kind == .mayFail) {
            try await conformanceCase.run(on: .curl, in: environment)
        }
    }

    /// Whether the deviation applies to the loaded libcurl: "libcurl 8.4 does not ..." is about 8.4.0, and
    /// "libcurl 8.1 to 8.4 does not ..." also about 8.3.0.
    private func isAboutThis(_ deviation: ConformanceDeviation) -> Bool {
        let words = deviation.reason.split(separator: " ")
        let own = Self.minorVersion("\(CurlTransport())".split(separator: " ")[1])
        let first = Self.minorVersion(words[1])
        return own >= first && own <= (words[2] == "to" ? Self.minorVersion(words[3]) : first)
    }

    /// 7.88.1 is 7,088.
    private static func minorVersion(_ text: Substring) -> Int {
        let numbers = text.split(separator: ".").prefix(2).compactMap { Int($0) }
        return numbers.count == 2 ? numbers[0] * 1000 + numbers[1] : 0
    }
}

extension ConformanceEngine {
    static let curl = ConformanceEngine("curl") {
        CurlTransport(configuration: $0)
    } shutDown: { transport, mode in
        await transport.shutdown(mode)
    }
}
#endif
