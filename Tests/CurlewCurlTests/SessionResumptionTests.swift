// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// TLS sessions, which all handles of a transport's thread share.
@Suite(.timeLimit(.minutes(1)))
struct SessionResumptionTests {
    /// Whether each of several calls at once resumed a session: what the server says, and what the metrics do.
    private func resumed(_ transport: CurlTransport, _ url: String, count: Int) async throws -> [(String, Bool?)] {
        try await withThrowingTaskGroup(of: (String, Bool?).self) { group in
            for _ in 0..<count {
                group.addTask {
                    let response = try await transport.exchange(.get, url)
                    return (try await response.text(), response.metrics.connection?.tls?.isResumed)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(
        "Without keep-alive TLS sessions are resumed, whichever handle connects",
        arguments: [TransportConfiguration.TLS.Version.v12, .v13])
    func shared(version: TransportConfiguration.TLS.Version) async throws {
        let nginx = try await Nginx.shared()
        var configuration = nginx.configuration
        configuration.httpVersions = .http1Only
        let transport = CurlTransport(configuration: configuration)
        let url = (version == .v12 ? nginx.serial : nginx.modern) + "/close"
        let first = try await resumed(transport, url, count: 1)
        #expect(first.map(\.0) == ["."] && first.first?.1 != true)
        for _ in 0..<3 {
            let later = try await resumed(transport, url, count: 12)
            #expect(later.allSatisfy { ($0.0 == "r") == ($0.1 ?? ($0.0 == "r")) })
            // Of TLS 1.3 newer versions use each ticket once (RFC 8446 §C.4), and the server gives two at a time.
            #expect(version == .v13 ? later.contains { $0.0 == "r" } : later.allSatisfy { $0.0 == "r" })
        }
        // An address of the name that does not respond is tried too.
        #expect(transport.snapshot.connectionsOpened >= 37)
        #expect(transport.snapshot.handles > 1 || CurlLibrary.current.keepsFreedFields)
    }

    @Test("Another transport resumes nothing")
    func apart() async throws {
        let nginx = try await Nginx.shared()
        for _ in 0..<2 {
            let transport = CurlTransport(configuration: nginx.configuration)
            let seen = try await resumed(transport, nginx.serial + "/close", count: 1)
            #expect(seen.map(\.0) == ["."])
        }
    }
}
