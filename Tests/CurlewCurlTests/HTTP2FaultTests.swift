// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import Foundation
import TestServers
import Testing

/// HTTP/2 servers that refuse, leave and break off.
@Suite(.timeLimit(.minutes(1)))
struct HTTP2FaultTests {
    private func start() async throws -> (H2Server, CurlTransport) {
        let nginx = try await Nginx.shared()
        return (
            try await onThread { try H2Server(nginx.certificates) }, CurlTransport(configuration: nginx.configuration)
        )
    }

    @Test("a POST that the server refused or left is not sent again by the transport", arguments: ["refuse", "goaway"])
    func refusedPost(kind: String) async throws {
        for body in [RequestBody.empty, .bytes(Data(count: 10))] {
            let (server, transport) = try await start()
            let path = server.url + "/\(kind)/\(body.length ?? 0)"
            let error = try await #require(throws: NetworkError.self) {
                try await transport.exchange(.post, path, body: body)
            }
            #expect(error.isRetryable && error.label.hasPrefix("connectionLost"), "\(error)")
            // On a new connection a refusal is certain: the server has not looked at it, and a policy may send it
            // again. The end of the connection right behind a GOAWAY may hide that one.
            try await LibraryDeviation.refusedStream.mayDiffer {
                if kind == "refuse" { #expect(error.reason == .connectionLost(.requestNotSent), "\(error)") }
            }
            expectTexts(error)
            #expect(try await transport.exchange(.get, path).text() == "2")
            // On one that was used before, libcurl does not distinguish a refusal from a lost connection.
            let (method, other) = (HTTPMethod.post, server.url + "/\(kind)/again")
            let later = try await #require(throws: NetworkError.self) {
                try await transport.exchange(method, other, body: body)
            }
            #expect(later.isRetryable && later.label.hasPrefix("connectionLost"), "\(later)")
        }
    }

    @Test("a stream that the server breaks off is a lost connection, for this stream only")
    func broken() async throws {
        let (server, transport) = try await start()
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.post, server.url + "/break", body: .bytes(Data(count: 10))).data()
        }
        #expect(error.reason == .connectionLost(.requestMayHaveArrived), "\(error)")
        expectTexts(error)
        #expect(try await transport.exchange(.get, server.url + "/break").text() == "2")
    }

    @Test("a cancelled stream leaves its connection open")
    func cancelled() async throws {
        let (server, transport) = try await start()
        #expect(try await transport.exchange(.get, server.url + "/ok").metrics.reusedConnection == false)
        let task = Task { try await transport.exchange(.get, server.url + "/silent") }
        // The other stream shows that the silent one has been sent before it.
        #expect(try await transport.exchange(.get, server.url + "/ok").text() == "2")
        task.cancel()
        #expect(await outcome(task).reason == .cancelled)
        #expect(try await transport.exchange(.get, server.url + "/ok").metrics.reusedConnection == true)
    }
}
