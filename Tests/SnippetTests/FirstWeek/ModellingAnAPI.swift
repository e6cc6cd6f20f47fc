// SPDX-License-Identifier: MIT

import Curlew

nonisolated struct Film: Decodable, Equatable {
    let id: String
    let title: String
    let year: Int
}

nonisolated struct Rating: Encodable {
    let stars: Int
}

extension Request {
    static var films: Request<[Film]> { .get("/films", query: ["sort": "year"]) }
    static func film(_ id: String) -> Request<Film> { .get("/films/\(id)") }
    static func rate(_ id: String, _ rating: Rating) -> Request<Void> { .post("/films/\(id)/rating", json: rating) }
}

extension Request {
    static func rename(_ id: String, to title: String) -> Request<Film> {
        .patch("/films/\(id)", body: .json(["title": .init(title), "tags": ["renamed", 1]]))
    }
    static func poster(at url: String) -> Request<Data> { .get(url: url) }
}

struct GetFilm: Endpoint {
    typealias Response = Film
    var id: String
    var path: RequestPath { "/films/\(id)" }
}

struct CountFilms: Endpoint {
    typealias Response = Int
    var path: RequestPath { "/films" }

    func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Int {
        try await response.decoded(as: [Film].self, using: codecs).count
    }
}

struct RateFilm: Endpoint {
    typealias Response = Void
    var id: String
    var rating: Rating

    var method: HTTPMethod { .post }
    var path: RequestPath { "/films/\(id)/rating" }
    var content: RequestContent { .json(rating) }
}

enum FilmsAPI: Route {
    case list(year: Int?)
    case film(String)
    case rate(String, Rating)

    var method: HTTPMethod {
        switch self {
        case .list, .film: .get
        case .rate: .post
        }
    }

    var path: RequestPath {
        switch self {
        case .list: "/films"
        case .film(let id): "/films/\(id)"
        case .rate(let id, _): "/films/\(id)/rating"
        }
    }

    var query: QueryItems {
        if case .list(let year) = self { ["year": year] } else { [:] }
    }

    var content: RequestContent {
        if case .rate(_, let rating) = self { .json(rating) } else { .none }
    }
}

nonisolated struct Question: Decodable, Equatable {
    let title: String
    let score: Int
}

extension Request {
    static func questions(tagged tag: String) -> Request<[Question]> {
        Request<[Question]>.get("/questions", query: ["tagged": tag]).unwrapping("items")
    }
}

enum ModellingAnAPI {
    static func threeForms(_ client: APIClient) async throws -> [Film] {
        let film = try await client.send(.film("metropolis"))
        let same = try await client.send(GetFilm(id: "metropolis"))
        let films: [Film] = try await client.send(FilmsAPI.list(year: 1927).decoding())

        return [film, same] + films
    }

    static func forNothing(_ client: APIClient) async throws {
        // the status counts
        try await client.send(FilmsAPI.rate("metropolis", Rating(stars: 5)).ignoringBody())
    }

    static func wholeAnswer(_ client: APIClient) async throws -> String {
        let response = try await client.response(for: .film("metropolis"))
        print(response.value.title, response.status, response.headers[.eTag] ?? "", response.url)

        return response.value.title
    }

    static func codecs() -> APIClient {
        var configuration = APIClient.Configuration()
        configuration.codecs = .snakeCase  // created_at, and dates by ISO 8601
        let client = APIClient(baseURL: "https://api.example.com/v1", configuration: configuration)

        return client
    }

    static func environments(isLive: Bool) -> APIClient {
        let live = APIClient(baseURL: "https://api.example.com/v1", pipeline: .standard.adding(.logging()))
        let staging = live.with(baseURL: "https://staging.example.com/v1")

        return isLive ? live : staging
    }
}
