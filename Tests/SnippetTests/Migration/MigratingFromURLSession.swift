// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import CurlewURLSession
import Foundation
import Testing

#if os(Linux)
import FoundationNetworking
#endif

// The code of the page of the same name, line for line.

enum MigratingFromURLSession {
    struct Order: Codable, Equatable {
        let id: Int
        let title: String
        let placedAt: Date
    }

    struct NewOrder: Encodable {
        let title: String
    }

    struct Complaint: Decodable, Equatable {
        let message: String
        let field: String?
    }

    enum Calls {
        static func order(_ id: Int) -> Request<Order> { .get("/orders/\(id)", query: ["expand": "items"]) }
        static func create(_ order: NewOrder) -> Request<Order> { .post("/orders", json: order) }
        static func remove(_ id: Int) -> Request<Void> { .delete("/orders/\(id)") }
        static func addReceipt(to id: Int, file: String) -> Request<Void> {
            .post("/orders/\(id)/receipt", body: .multipart([.field("kind", "receipt"), .file("photo", path: file)]))
        }
        static func logIn(_ name: String, _ password: String) -> Request<Tokens> {
            .post("/auth/login", body: .json(["username": .init(name), "password": .init(password)]))
        }
        static func renew(_ token: String?) -> Request<Tokens> {
            .post("/auth/refresh", body: .json(["refreshToken": .init(token ?? "")]))
        }
    }

    static func client() -> APIClient {
        var configuration = APIClient.Configuration(codecs: .snakeCase)
        configuration.headers = ["X-App-Version": "4.2"]
        configuration.timeouts.total = .seconds(60)
        let client = APIClient(baseURL: "https://api.example.com/v1", configuration: configuration)
        return client
    }

    static func readyMade(_ client: APIClient, _ urlRequest: URLRequest) async throws -> Order {
        let order: Order = try await client.send(urlRequest: urlRequest)
        return order
    }

    static func get(_ client: APIClient) async throws -> Order {
        let order = try await client.send(Calls.order(7))
        return order
    }

    static func post(_ client: APIClient) async throws -> Order {
        let order = try await client.send(Calls.create(NewOrder(title: "Tea")))
        return order
    }

    static func pipeline(_ store: TokenStore) -> Pipeline {
        let pipeline = Pipeline.standard.adding(
            .bearer(store) { try await $0.client.send(Calls.renew($0.tokens.refreshToken)) })
        return pipeline
    }

    static func signIn(_ client: APIClient, _ store: TokenStore) async throws {
        try await store.signIn(try await client.withoutCredentials().send(Calls.logIn("emilys", "emilyspass")))
    }

    static func retry(_ client: APIClient) async throws -> (APIClient, Order, Order) {
        let patient = APIClient(
            baseURL: "https://api.example.com/v1", pipeline: .standard.replacing(.retry(.attempts(5))))
        let once = try await client.send(Calls.order(7).options { $0.retry = .never })
        let keyed = try await client.send(
            Calls.create(NewOrder(title: "Tea")).options { $0.sendsIdempotencyKey = true })
        return (patient, once, keyed)
    }

    static func upload(_ client: APIClient, _ path: String) async throws {
        try await client.send(Calls.addReceipt(to: 7, file: path))
    }

    static func download(_ client: APIClient, to file: URL) async throws {
        let export = Request<Data>.get("/orders/export").options { $0.timeouts = Timeouts(total: .seconds(1800)) }
        try await client.download(export, to: file.path)
    }

    static func errors(_ client: APIClient) async -> String {
        // The formatter would write two spaces before `where`.
        // swift-format-ignore
        do {
            return try await client.send(Calls.order(7)).title
        } catch where error.isCancelled {
            return ""
        } catch where error.isNotFound {
            return "There is no such order."
        } catch {
            if let complaint = error.body(as: Complaint.self) { return complaint.message }
            return error.message
        }
    }

    @MainActor
    final class OrderModel {
        private(set) var order: Order?
        private(set) var message: String?
        let client: APIClient

        init(client: APIClient) {
            self.client = client
        }

        func load() async {
            do {
                order = try await client.sendUnlessCancelled(Calls.order(7)) ?? order
            } catch {
                message = error.message
            }
        }
    }

    static func completion(
        _ client: APIClient, show: @escaping @MainActor (String) -> Void
    ) -> APIClient.RequestHandle {
        let handle = client.send(Calls.order(7)) { result in
            switch result {
            case .success(let order): show(order.title)
            case .failure(let error): if !error.isCancelled { show(error.message) }
            }
        }
        return handle
    }

    static func test() async throws {
        let client = APIClient.mock(configuration: APIClient.Configuration(codecs: .snakeCase)) {
            $0.on(.get, "/orders/:id") { _ in #"{"id": 7, "title": "Tea", "placed_at": "2026-01-31T08:30:00Z"}"# }
            $0.fail(.delete, "/orders/:id", with: NetworkError(statusCode: 503))
        }
        #expect(try await client.send(Calls.order(7)).title == "Tea")
        await #expect(throws: NetworkError.self) { try await client.send(Calls.remove(7)) }
        #expect(client.recordedCalls.map(\.path) == ["/orders/7", "/orders/7"])
    }
}
