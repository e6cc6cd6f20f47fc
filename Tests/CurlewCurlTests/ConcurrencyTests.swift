// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Many transfers at once: each gets its own response.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyTests {
    @Test("five hundred calls at a time get their own responses", arguments: [8, 64])
    func many(connections: Int) async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(connectionsPerHost: connections))
        let server = try MockServer()
        server.on(.get, "/:id") { .text("answer \($0.parameters["id"] ?? "")") }
        let observer = CountingObserver()
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let response = try await transport.exchange(.get, server.url + "/\(index)", observers: [observer])
                    return try await response.text() != "answer \(index)"
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wrong == 0)
        #expect(server.connectionCount <= connections)
        #expect(await eventually { observer.measured == 500 })
        #expect(observer.repeated == 0)
    }

    @Test("connections that are in use do not count as idle ones")
    func manyConnections() async throws {
        let pool = TransportConfiguration.Pool(perHost: 48, idle: 4)
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<48 {
                group.addTask {
                    for _ in 0..<20 { _ = try await transport.exchange(.get, server.url + "/").text() }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connectionCount <= 48)
    }
}
