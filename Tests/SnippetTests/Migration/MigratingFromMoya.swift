// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

// The code of the page of the same name, line for line.

enum MigratingFromMoya {
    struct Repository: Codable, Equatable {
        let id: Int
        let name: String
    }

    struct NewRepository: Codable {
        let name: String
    }

    struct Complaint: Decodable, Equatable {
        let message: String
    }

    enum Code: Route {
        case repositories(user: String, page: Int)
        case repository(id: Int)
        case create(NewRepository)
        case addLogo(id: Int, file: String)
        case archive(id: Int)
        case logIn(name: String, password: String)

        var path: RequestPath {
            switch self {
            case .repositories(let user, _): "/users/\(user)/repositories"
            case .repository(let id): "/repositories/\(id)"
            case .create: "/repositories"
            case .addLogo(let id, _): "/repositories/\(id)/logo"
            case .archive(let id): "/repositories/\(id)/archive"
            case .logIn: "/auth/login"
            }
        }

        var method: HTTPMethod {
            switch self {
            case .repositories, .repository, .archive: .get
            case .create, .addLogo, .logIn: .post
            }
        }

        var query: QueryItems {
            if case .repositories(_, let page) = self { ["page": page] } else { [:] }
        }

        var content: RequestContent {
            switch self {
            case .repositories, .repository, .archive: .none
            case .create(let repository): .json(repository)
            case .addLogo(_, let file): .multipart([.file("logo", path: file)])
            case .logIn(let name, let password): .form(["username": name, "password": password])
            }
        }

        var options: RequestOptions {
            var options = RequestOptions()
            if case .archive = self { options.limits = Limits(responseBody: 1 << 30) }
            return options
        }
    }

    static func client() -> APIClient {
        let client = APIClient(baseURL: "https://api.example.com")
        return client
    }

    static func get(_ client: APIClient) async throws -> ([Repository], Repository) {
        let repositories: [Repository] = try await client.send(Code.repositories(user: "ada", page: 1).decoding())
        let repository = try await client.send(Code.repository(id: 7).decoding(Repository.self))
        return (repositories, repository)
    }

    static func post(_ client: APIClient) async throws -> Repository {
        let created: Repository = try await client.send(Code.create(NewRepository(name: "curlew")).decoding())
        return created
    }

    static func completion(
        _ client: APIClient, show: @escaping @MainActor (String) -> Void
    ) -> APIClient.RequestHandle {
        let handle = client.send(Code.repository(id: 7).decoding(Repository.self)) { result in
            switch result {
            case .success(let repository): show(repository.name)
            case .failure(let error): if !error.isCancelled { show(error.message) }
            }
        }
        return handle
    }

    /// A call that knows its answer, so that no caller has to name it.
    struct GetRepository: Endpoint {
        typealias Response = Repository
        let id: Int
        var path: RequestPath { "/repositories/\(id)" }
    }

    static func endpoint(_ client: APIClient) async throws -> Repository {
        let repository = try await client.send(GetRepository(id: 7))
        return repository
    }

    static func pipeline(_ store: TokenStore) -> Pipeline {
        let pipeline = Pipeline.standard
            .adding(.logging())
            .adding(.bearer(store) { try await $0.client.send(renewal(of: $0.tokens)) })
        return pipeline
    }

    static func renewal(of tokens: Tokens) -> Request<Tokens> {
        .post("/auth/refresh", body: .json(["refreshToken": .init(tokens.refreshToken ?? "")]))
    }

    static func signIn(_ client: APIClient, _ store: TokenStore) async throws {
        let login = Code.logIn(name: "ada", password: "secret").decoding(Tokens.self).withoutCredentials()
        let tokens = try await client.send(login)
        try await store.signIn(tokens)
    }

    /// A plugin: it sees each request, and then its response.
    struct Spinner: Interceptor {
        let change: @Sendable (Int) -> Void
        let traits = InterceptorTraits(placement: .logging)

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            change(1)
            defer { change(-1) }
            return try await next(request)
        }
    }

    static func retry() -> APIClient {
        let client = APIClient(
            baseURL: "https://api.example.com", pipeline: .standard.replacing(.retry(.attempts(5))))
        return client
    }

    static func upload(_ client: APIClient, _ file: String) async throws {
        let _: Repository = try await client.send(Code.addLogo(id: 7, file: file).decoding())
    }

    static func download(_ client: APIClient, to file: String) async throws {
        try await client.download(Code.archive(id: 7), to: file)
    }

    static func errors(_ client: APIClient) async -> String {
        do {
            return try await client.send(Code.repository(id: 7).decoding(Repository.self)).name
        } catch {
            switch error.reason {
            case .cancelled: return ""
            case .status(.notFound): return "There is no such repository."
            case .status: return error.body(as: Complaint.self)?.message ?? error.message
            case .decoding: return "\(error.detail)"
            default: return error.message
            }
        }
    }

    static func cancel(_ client: APIClient) -> APIClient.RequestHandle {
        let handle = client.send(Code.repository(id: 7).decoding(Repository.self)) { _ in }
        handle.cancel()
        return handle
    }

    static func test() async throws {
        let client = APIClient.mock {
            $0.on(Code.self) { call in
                switch call {
                case .repositories: #"[{"id": 7, "name": "curlew"}]"#
                default: #"{"id": 7, "name": "curlew"}"#
                }
            }
            $0.fail(.delete, "/repositories/:id", with: NetworkError(statusCode: 403))
        }
        let repositories: [Repository] = try await client.send(Code.repositories(user: "ada", page: 1).decoding())
        #expect(repositories.map(\.name) == ["curlew"])
        #expect(client.recordedCalls.map(\.request.target) == ["/users/ada/repositories?page=1"])
    }
}
