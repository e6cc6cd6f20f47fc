// SPDX-License-Identifier: MIT

import Curlew

// What the documentation shows, as a user writes it. This file is compiled twice: in a plain module, and (through a
// symbolic link) in one whose default isolation is the main actor.

// MARK: Models

nonisolated struct User: Codable, Equatable {
    let id: Int
    var name: String
}

nonisolated struct NewUser: Encodable {
    var name: String
}

nonisolated struct Question: Decodable, Equatable {
    let title: String
    let score: Int
}

// MARK: Inline requests

extension Request {
    static func user(id: Int) -> Request<User> { .get("/users/\(id)") }
    static var users: Request<[User]> { .get("/users", query: ["sort": "name"]) }
    static func create(_ user: NewUser) -> Request<User> { .post("/users", json: user) }
    static func rename(id: Int, to name: String) -> Request<User> {
        .patch("/users/\(id)", json: ["name": .init(name), "tags": ["renamed", 1]])
    }
    static func remove(id: Int) -> Request<Void> { .delete("/users/\(id)") }
    static func avatar(at url: String) -> Request<Data> { .get(url: url) }
    static func questions(tagged tag: String) -> Request<[Question]> {
        Request<[Question]>.get("/questions", query: ["tagged": tag]).unwrapping("items")
    }
}

// MARK: A struct for each call

struct GetUser: Endpoint {
    typealias Response = User
    var id: Int
    var path: RequestPath { "/users/\(id)" }
}

struct Questions: WrappedEndpoint {
    typealias Response = [Question]
    var tag: String
    var wrapper: String { "items" }
    var path: RequestPath { "/questions" }
    var query: QueryItems { ["tagged": tag] }
}

// MARK: An enum for a service

enum UsersAPI: Route {
    case list(page: Int)
    case one(Int)
    case update(User)

    var method: HTTPMethod {
        switch self {
        case .list, .one: .get
        case .update: .put
        }
    }

    var path: RequestPath {
        switch self {
        case .list: "/users"
        case .one(let id): "/users/\(id)"
        case .update(let user): "/users/\(user.id)"
        }
    }

    var query: QueryItems {
        if case .list(let page) = self { ["page": page] } else { [:] }
    }

    var content: RequestContent {
        if case .update(let user) = self { .json(user) } else { .none }
    }
}

// MARK: An interceptor of one's own

struct Tenant: Interceptor {
    let name: String

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Tenant"] = name
        return try await next(request)
    }
}

// MARK: A view model

@MainActor
final class UserModel {
    private(set) var user: User?
    private(set) var message: String?
    private let client: APIClient

    init(client: APIClient) {
        self.client = client
    }

    func load(id: Int) async {
        do {
            user = try await client.sendUnlessCancelled(.user(id: id)) ?? user
        } catch {
            message = error.message
        }
    }
}

// MARK: The four ways to catch

enum Catching {
    /// A function: `error` is a `NetworkError`.
    static func inAFunction(_ client: APIClient) async -> String {
        // The formatter would write two spaces before `where`.
        // swift-format-ignore
        do {
            return try await client.send(.user(id: 1)).name
        } catch where error.isCancelled {
            return ""
        } catch where error.isNotFound {
            return "nobody"
        } catch {
            return error.message
        }
    }

    /// A closure, such as that of a task: say so, or `error` is `any Error`.
    static func inATask(_ client: APIClient) -> Task<String, Never> {
        Task {
            do throws(NetworkError) {
                return try await client.send(.user(id: 1)).name
            } catch {
                return error.message
            }
        }
    }

    /// Several calls at once: `async let` and task groups forget the type, `NetworkError(error)` gives it back.
    static func ofSeveral(_ client: APIClient) async -> String {
        do {
            async let first = client.send(.user(id: 1))
            async let second = client.send(.user(id: 2))
            return try await first.name + second.name
        } catch {
            return NetworkError(error).message
        }
    }

    /// By reason: the list may grow, so there is always a `default`.
    static func byReason(_ client: APIClient) async -> String {
        do {
            return try await client.send(.user(id: 1)).name
        } catch {
            switch error.reason {
            case .status(.notFound): return "nobody"
            case .timedOut, .unreachable: return "later"
            default: return error.message
            }
        }
    }
}
