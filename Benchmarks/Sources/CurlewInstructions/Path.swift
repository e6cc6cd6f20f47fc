// SPDX-License-Identifier: MIT

import Curlew
import CurlewJSON
import CurlewRecording
import Foundation

/// The ways through the package that are counted. All but `decode` go over one warm connection for each call in flight.
enum Path: String, CaseIterable {
    /// Typed GETs of a small JSON value, one after the other; the same with sixteen in flight.
    case get, get16
    /// The same with a registry of metrics, and with a recorder that keeps heads.
    case metrics, recorder
    /// A fresh response from the cache in memory.
    case hit
    /// A body of 1 MB, collected.
    case body
    /// JSON of 20 KB into a hundred models, without a network.
    case decode
    /// A message of 64 bytes that a WebSocket server sends back.
    case socket

    private struct Item: Decodable {
        let id: Int
        let name: String
    }

    private struct User: Decodable {
        let id: Int
        let firstName, lastName, email, phone: String
        let age: Int
        let score: Double
        let isActive: Bool
        let tags: [String]
    }

    func run(calls: Int, port: Int) async throws {
        switch self {
        case .get: try await items(calls, client(port))
        case .metrics: try await items(calls, client(port, observers: [MetricsRegistry()]))
        case .recorder: try await items(calls, client(port, .standard.adding(.recording(FlightRecorder()))))
        case .hit: try await items(calls, client(port, .standard.adding(.caching())), "/fresh")
        case .get16:
            let client = client(port)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 { group.addTask { try await items(calls / 16, client) } }
                try await group.waitForAll()
            }
        case .body:
            let client = client(port)
            for _ in 0..<calls {
                let body = try await client.send(Request<Data>.get("/body"))
                guard body.count == 1 << 20 else { throw NetworkError(.badResponse) }
            }
        case .decode:
            let data = Data(Server.users.utf8)
            for _ in 0..<calls {
                let users = try FastJSONDecoder().decode([User].self, from: data)
                guard users.count == 100 else { throw NetworkError(.badResponse) }
            }
        case .socket:
            let socket = try await client(port).webSocket(.get("/socket"))
            var messages = socket.makeAsyncIterator()
            for _ in 0..<calls {
                try await socket.send(.binary(Data(count: 64)))
                guard case .binary? = try await messages.next() else { throw NetworkError(.badResponse) }
            }
        }
    }

    private func items(_ calls: Int, _ client: APIClient, _ path: RequestPath = "/item") async throws {
        let request = Request<Item>.get(path)
        for _ in 0..<calls {
            guard try await client.send(request).id == 1 else { throw NetworkError(.badResponse) }
        }
    }

    private func client(
        _ port: Int, _ pipeline: Pipeline = .standard, observers: [any RequestObserver] = []
    ) -> APIClient {
        let base: BaseURL = "http://127.0.0.1:\(port)"
        return APIClient(
            baseURL: base, pipeline: pipeline, transport: CurlTransport(),
            configuration: APIClient.Configuration(observers: observers))
    }
}
