// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCurl
import CurlewTesting
import TestServers
import Testing

/// Every case, on the engine that Linux has by default.
@Suite(.timeLimit(.minutes(3)))
struct CurlConformanceTests {
    @Test("curl conforms", arguments: ConformanceEngine.curl.cases)
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

    /// Whether the loaded libcurl is one of which the deviation tells: "libcurl 8.4 does not ..." is about 8.4.0.
    private func isAboutThis(_ deviation: ConformanceDeviation) -> Bool {
        let versions = deviation.reason.split(separator: " ").prefix(2).joined(separator: " ")
        return "\(CurlTransport()).".hasPrefix(versions + ".")
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
