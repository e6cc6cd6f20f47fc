// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI

/// A service of its own for each test, and clients for its areas. Keep it: the service ends with it.
struct Sample {
    let api: SampleAPI
    let tokens: TokenStore
    let client: APIClient
    let films: APIClient

    init(time: any TimeSource = SystemTime()) throws {
        api = try SampleAPI(time: time)
        tokens = TokenStore(time: time)
        client = APIClient(
            baseURL: try BaseURL(api.url),
            pipeline: .standard.adding(
                .bearer(tokens) { refresh in
                    try await refresh.client.send(
                        .post("/auth/refresh", body: .json(["refreshToken": refresh.tokens.refreshToken])))
                }))
        films = APIClient(
            baseURL: try BaseURL(api.url + "/v1"), configuration: APIClient.Configuration(codecs: .snakeCase))
    }
}

struct SignedIn: Decodable {
    let id: Int
    let username, accessToken, refreshToken: String
}

struct User: Decodable {
    let id: Int
    let firstName, lastName, username, image: String
    let height: Double
}

struct UserPage: Decodable {
    let users: [User]
    let total, skip, limit: Int
}

struct Film: Decodable, Equatable {
    let id, title: String
    let year, ratingCount: Int
    let releaseDate: Date
    let averageRating: Double?
}

struct FilmError: Decodable {
    let message: String
    let code: String?
}

struct Question: Decodable {
    struct Owner: Decodable {
        let displayName, profileImage: String
    }

    let questionId, score: Int
    let tags: [String]
    let creationDate: Date
    let owner: Owner
    let body: String?
}

struct Member: Codable, Equatable {
    let id: Int
    let name, email, role: String
}

struct NewMember: Encodable {
    var name = "Radia Perlman"
    var email = "radia@example.com"
    var role = "editor"
}

struct Receipt: Decodable {
    let userId, bytes: Int
    let fileName, mediaType, checksum: String
    let fields: [String]
}

extension Request {
    static func login(_ username: String, _ password: String) -> Request<SignedIn> {
        .post("/auth/login", body: .json(["username": username, "password": password]))
    }

    static var currentUser: Request<User> { .get("/auth/me") }

    static func film(_ id: String) -> Request<Film> { .get("/films/\(id)") }

    static func films(limit: Int, fail: Int? = nil) -> Request<[Film]> {
        .get("/films", query: ["limit": limit, "fail": fail])
    }

    static func rate(_ id: String, stars: Int) -> Request<Film> {
        .post("/films/\(id)/rating", body: .json(["stars": stars]))
    }
}
