// SPDX-License-Identifier: MIT

struct User: Codable, Equatable, Sendable {
    let id: Int
    let name: String
}

struct GetUser: Endpoint {
    typealias Response = User
    let id: Int
    var path: RequestPath { "/users/\(id)" }
}

struct FindUser: Endpoint {
    typealias Response = User?
    let name: String
    var path: RequestPath { "/users" }
    var query: QueryItems { ["name": name] }
}

struct CreateUser: Endpoint {
    typealias Response = User
    let user: User
    var method: HTTPMethod { .post }
    var path: RequestPath { "/users" }
    var content: RequestContent { .json(user) }
}

struct Logout: Endpoint {
    typealias Response = Void
    var method: HTTPMethod { .post }
    var path: RequestPath { "/logout" }
}

enum UsersAPI: Route {
    case list
    case one(Int)

    var path: RequestPath {
        switch self {
        case .list: "/users"
        case .one(let id): "/users/\(id)"
        }
    }
}

/// As most models are: read, never written.
struct Film: Decodable, Equatable, Sendable {
    let title: String
}

struct GetFilm: Endpoint {
    typealias Response = Film
    let id: Int
    var path: RequestPath { "/films/\(id)" }
}

struct FindFilm: Endpoint {
    typealias Response = Film?
    var path: RequestPath { "/film" }
}

extension Request {
    static func user(id: Int) -> Request<User> { .get("/users/\(id)") }
}
