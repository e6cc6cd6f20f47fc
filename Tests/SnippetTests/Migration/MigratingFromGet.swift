// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

// The code of the page of the same name, line for line.

enum MigratingFromGet {
    struct Issue: Codable, Equatable {
        let id: Int
        let title: String
    }

    struct NewIssue: Encodable {
        let title: String
    }

    struct Complaint: Decodable, Error, Equatable {
        let message: String
    }

    enum Paths {
        static func issue(_ id: Int) -> Request<Issue> { .get("/issues/\(id)") }
        static func issues(page: Int, label: String?) -> Request<[Issue]> {
            .get("/issues", query: ["page": page, "label": label])
        }
        static func create(_ issue: NewIssue) -> Request<Issue> { .post("/issues", json: issue) }
        static func close(_ id: Int) -> Request<Void> { .delete("/issues/\(id)") }
        static func attach(_ file: String, to id: Int) -> Request<Void> {
            .post("/issues/\(id)/files", body: .multipart([.file("file", path: file)]))
        }
        static func replaceLog(of id: Int, with file: String) -> Request<Void> {
            .put("/issues/\(id)/log", body: .file(file, type: .text))
        }
        static func renew(_ tokens: Tokens) -> Request<Tokens> {
            .post("/auth/refresh", body: .json(["refreshToken": .init(tokens.refreshToken ?? "")]))
        }
    }

    static func client() -> APIClient {
        let client = APIClient(
            baseURL: "https://api.example.com", configuration: APIClient.Configuration(codecs: .iso8601))
        return client
    }

    static func get(_ client: APIClient) async throws -> (Issue, Response<Issue>) {
        let issue = try await client.send(Paths.issue(7))
        let response = try await client.response(for: Paths.issue(7))
        print(response.status, response.headers[.eTag] ?? "", response.metrics.total ?? .zero)
        return (issue, response)
    }

    static func post(_ client: APIClient) async throws -> Issue {
        let issue = try await client.send(Paths.create(NewIssue(title: "It rains")))
        return issue
    }

    static func token(_ keychain: Keychain) -> APIClient {
        let client = APIClient(
            baseURL: "https://api.example.com",
            pipeline: .standard.adding(.bearer { await keychain.token }))
        return client
    }

    actor Keychain {
        var token: String? = "abc"
    }

    static func pipeline(_ store: TokenStore) -> Pipeline {
        let pipeline = Pipeline.standard
            .adding(.bearer(store) { try await $0.client.send(Paths.renew($0.tokens)) })
            .adding(.onRequest { request, _ in request.headers["X-Client"] = "issues/4.2" })
            .adding(.onError { error, _ in print(error) })
        return pipeline
    }

    static func retry(_ client: APIClient) async throws -> Issue {
        let patient = APIClient(
            baseURL: "https://api.example.com",
            pipeline: .standard.replacing(.retry(.waitingForConnectivity(upTo: .seconds(60)))))
        let issue = try await client.send(Paths.issue(7).options { $0.retry = .attempts(2) })
        print(patient)
        return issue
    }

    static func upload(_ client: APIClient, _ file: String) async throws {
        try await client.send(Paths.attach(file, to: 7))
        try await client.send(Paths.replaceLog(of: 7, with: file))
    }

    static func download(_ client: APIClient, to file: String) async throws {
        try await client.download(Request<Data>.get("/issues/export"), to: file)
    }

    static func errors(_ client: APIClient) async -> String {
        // The formatter would write two spaces before `where`.
        // swift-format-ignore
        do {
            return try await client.send(Paths.issue(7)).title
        } catch where error.isCancelled {
            return ""
        } catch where error.statusCode == 422 {
            return error.body(as: Complaint.self)?.message ?? error.message
        } catch {
            return error.message
        }
    }

    static func cancel(_ client: APIClient) async throws -> Issue? {
        let issue = try await client.sendUnlessCancelled(Paths.issue(7))
        return issue
    }

    static func test() async throws {
        let client = APIClient.mock { $0.on(.get, "/issues/7") { _ in Issue(id: 7, title: "It rains") } }
        #expect(try await client.send(Paths.issue(7)).title == "It rains")
    }
}
