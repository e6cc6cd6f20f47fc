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

enum MigratingFromAlamofire {
    struct Station: Codable, Equatable {
        let id: Int
        let name: String
    }

    struct NewStation: Encodable {
        let name: String
    }

    enum Stations {
        static func station(_ id: Int) -> Request<Station> { .get("/stations/\(id)") }
        static func search(_ name: String, tags: [String]) -> Request<[Station]> {
            .get("/stations", query: ["name": name, "tag": tags])
        }
        static func create(_ station: NewStation) -> Request<Station> { .post("/stations", json: station) }
        static func addPhoto(to id: Int, file: String, caption: String) -> Request<Void> {
            .post("/stations/\(id)/photo", body: .multipart([.file("photo", path: file), .field("caption", caption)]))
        }
        static func logIn(_ name: String, _ password: String) -> Request<Tokens> {
            .post("/oauth/token", body: .form(["grant_type": "password", "username": name, "password": password]))
        }
        static func renew(_ token: String?) -> Request<Tokens> {
            .post("/oauth/token", body: .form(["grant_type": "refresh_token", "refresh_token": token]))
        }
    }

    static func client() -> APIClient {
        let client = APIClient(baseURL: "https://api.example.com")
        return client
    }

    static func router(_ client: APIClient, _ urlRequest: URLRequest) async throws -> Data {
        let data = try await client.data(for: urlRequest)
        return data
    }

    static func get(_ client: APIClient) async throws -> Station {
        let station = try await client.send(Stations.station(7))
        return station
    }

    static func search(_ client: APIClient) async throws -> [Station] {
        let stations = try await client.send(Stations.search("north", tags: ["rain", "wind"]))
        return stations
    }

    static func post(_ client: APIClient) async throws -> Station {
        let station = try await client.send(Stations.create(NewStation(name: "Harbour")))
        return station
    }

    static func pipeline(_ store: TokenStore) -> Pipeline {
        let pipeline = Pipeline.standard.adding(
            .bearer(store) { try await $0.client.send(Stations.renew($0.tokens.refreshToken)) })
        return pipeline
    }

    static func signIn(_ client: APIClient, _ store: TokenStore) async throws {
        try await store.signIn(try await client.withoutCredentials().send(Stations.logIn("ada", "secret")))
    }

    /// An adapter and a retrier in one: before a request, and after it.
    struct Maintenance: Interceptor {
        let bell: @Sendable () -> Void

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            var request = request
            request.headers["X-Client"] = "weather/4.2"
            let response = try await next(request)
            if response.status == .serviceUnavailable { bell() }
            return response
        }
    }

    static func retry() -> APIClient {
        let policy = RetryPolicy(attempts: 4, statuses: [502, 503, 504], backoff: .exponential)
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.replacing(.retry(policy)))
        return client
    }

    static func upload(_ client: APIClient, _ file: String) async throws {
        try await client.send(Stations.addPhoto(to: 7, file: file, caption: "From the pier"))
    }

    static func download(_ client: APIClient, to file: URL) async throws {
        let archive = Request<Data>.get("/stations/7/archive").options { $0.timeouts = Timeouts(total: nil) }
        try await client.download(archive, to: file) { value in
            progress(value.fraction)
        }
    }

    static func progress(_ fraction: Double?) {}

    static func errors(_ client: APIClient) async -> String {
        // The formatter would write two spaces before `where`.
        // swift-format-ignore
        do {
            return try await client.send(Stations.station(7)).name
        } catch where error.isCancelled {
            return ""
        } catch where error.statusCode == 404 {
            return "There is no such station."
        } catch where error.isTimeout || error.isOffline {
            return "Later."
        } catch {
            return error.message
        }
    }

    static func cancel(_ client: APIClient) async {
        let task = Task { try await client.send(Stations.station(7)) }
        task.cancel()
        let result = await task.result
        _ = result
    }

    static func completion(
        _ client: APIClient, show: @escaping @MainActor (String) -> Void
    ) -> APIClient.RequestHandle {
        let handle = client.send(Stations.station(7)) { result in
            show((try? result.get().name) ?? "")
        }
        return handle
    }

    static func pinned() -> [TransportConfiguration.TLS.PinSet] {
        var configuration = TransportConfiguration()
        configuration.tls.pins = [
            TransportConfiguration.TLS.PinSet(
                hosts: ["api.example.com"],
                keys: [
                    "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                    "sha256//n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=",
                ])
        ]
        return configuration.tls.pins
    }

    static func test() async throws {
        let client = APIClient.mock {
            $0.on(.get, "/stations/:id") { call in
                Station(id: Int(call.parameters["id"] ?? "") ?? 0, name: "Harbour")
            }
        }
        #expect(try await client.send(Stations.station(7)).id == 7)
    }
}
