// SPDX-License-Identifier: MIT

import Testing

/// Several transfers on one HTTP/2 connection, of which one finds the bytes of another in the socket.
@Suite(.timeLimit(.minutes(2)))
struct SharedConnectionTests {
    enum Length: String, CaseIterable {
        case told, open
    }

    /// More than libcurl has room for, by bytes that it gets in one piece with those of the other transfer.
    @Test("Bytes that libcurl keeps behind those of another transfer come", arguments: Length.allCases)
    func keptBytes(length: Length) async throws {
        let certificates = try await Nginx.shared().certificates
        let server = try await onThread { try H2Server(certificates) }
        let tls = TransportConfiguration.TLS(trustedRoots: .file(certificates.authority))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        // Which of two transfers libcurl lets read first is chance: in a third of the rounds it is the one that finds
        // the bytes of the other.
        for round in 0..<40 {
            let size = (120 << 10) + 1 + 2 * round
            var paths = ["/\(round)/held/\(length)", "/\(round)/flood/\(size)/\(length)"]
            if round % 2 == 0 { paths.reverse() }
            var responses: [HTTPResponse] = []
            for path in paths {
                responses.append(
                    try await transport.exchange(
                        .get, server.url + path, timeouts: Timeouts(idle: .seconds(10))
                    ) { $0.streaming = true })
            }
            let readers = responses.map { response in Task { try await response.data().count } }
            let go = try await transport.exchange(.get, server.url + "/\(round)/go")
            #expect(try await go.text() == "1")
            var counts: [Int] = []
            for reader in readers { counts.append(try await reader.value) }
            #expect(counts.sorted() == [4, size], "round \(round)")
        }
        #expect(transport.snapshot.connectionsOpened == 1)
    }
}
