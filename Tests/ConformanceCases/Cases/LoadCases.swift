// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import TestFixtures

/// Cases with many concurrent exchanges.
enum LoadCases {
    static let all =
        [8, 64].map { connections in
            ConformanceCase(
                "five hundred calls at a time over \(connections) connections get their own responses", .load,
                rule: "TransportConfiguration.Pool.perHost"
            ) { trial in
                let server = try trial.server()
                server.on(.get, "/:id") { .text("answer \($0.parameters["id"] ?? "")") }
                let transport = try trial.transport(
                    TransportConfiguration(pool: TransportConfiguration.Pool(perHost: connections)))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<500 {
                        group.addTask {
                            let response = try await trial.exchange(.get, server.url + "/\(index)", over: transport)
                            try await trial.expectText(response, "answer \(index)")
                        }
                    }
                    try await group.waitForAll()
                }
                try trial.equal(server.requestCount, 500, "the number of requests")
                let most = server.peakOpenConnections
                try trial.expect(most <= connections, "there were \(most) connections at a time")
            }
        }
        + [
            ConformanceCase("uploads and downloads at the same time get what is theirs", .load, rule: "Transport") {
                trial in
                let server = try trial.server()
                server.on(.post, "/") { .data($0.body) }
                server.on(.get, "/:size") { .generated(bytes: Int($0.parameters["size"] ?? "") ?? 0) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<60 {
                        group.addTask {
                            let bytes = MockResponse.pattern(0..<(index * 3000))
                            let response =
                                index % 2 == 0
                                ? try await trial.exchange(.get, server.url + "/\(bytes.count)")
                                : try await trial.exchange(.post, server.url + "/", body: .bytes(bytes))
                            try trial.equal(try await response.data(), bytes, "the body")
                        }
                    }
                    try await group.waitForAll()
                }
            },
            ConformanceCase(
                "a hundred calls that are cancelled at any moment each end once, and the transport continues", .load,
                rule: "Transport: cancellation"
            ) { trial in
                let server = try trial.server()
                server.on(.get, "/", respond: .generated(bytes: 300_000))
                var generator = SeededGenerator(seed: 20_261_121)
                let tasks = (0..<100).map { _ in
                    Task { try await trial.exchange(.get, server.url + "/").data().count }
                }
                for task in tasks.shuffled(using: &generator) {
                    for _ in 0..<Int.random(in: 0..<200, using: &generator) { await Task.yield() }
                    if Int.random(in: 0..<4, using: &generator) > 0 { task.cancel() }
                }
                for task in tasks {
                    do {
                        try trial.equal(try await task.value, 300_000, "the number of bytes")
                    } catch let error as NetworkError {
                        try trial.equal(error.reason, .cancelled, "the reason")
                    }
                }
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(try await response.data().count, 300_000, "the number of bytes afterwards")
            },
            ConformanceCase("transports at the same time do not disturb each other", .load, rule: "Transport") {
                trial in
                let server = try trial.server()
                server.on(.get, "/", respond: .text("ok"))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 {
                        group.addTask {
                            let transport = try trial.transport()
                            for _ in 0..<5 {
                                try await trial.expectText(
                                    trial.exchange(.get, server.url + "/", over: transport), "ok")
                            }
                            await trial.shutDown(transport)
                        }
                    }
                    try await group.waitForAll()
                }
            },
        ]
}
