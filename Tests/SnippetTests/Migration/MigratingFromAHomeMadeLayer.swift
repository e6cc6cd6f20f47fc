// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

// The code of the page of the same name, line for line.

enum MigratingFromAHomeMadeLayer {
    struct Film: Codable, Equatable, Sendable {
        let id: String
        let title: String
        let year: Int
    }

    struct Rating: Codable, Sendable {
        let stars: Int
    }

    struct Complaint: Decodable, Equatable {
        let message: String
        let code: String?
    }

    // MARK: What stays for a while: the old layer's description of a call

    protocol LegacyEndpoint: Sendable {
        associatedtype Answer: Decodable & Sendable
        var path: String { get }
        var method: String { get }
        var headers: [String: String] { get }
        var queryParameters: [String: String] { get }
        var body: (any Encodable & Sendable)? { get }
    }

    struct LegacyFilm: LegacyEndpoint {
        typealias Answer = Film
        let id: String
        var path: String { "films/\(id)" }
        var method: String { "GET" }
        var headers: [String: String] { [:] }
        var queryParameters: [String: String] { ["lang": "en"] }
        var body: (any Encodable & Sendable)? { nil }
    }

    /// Any call of the old layer, sent by Curlew.
    struct Moved<Old: LegacyEndpoint>: Endpoint {
        typealias Response = Old.Answer
        let old: Old

        var method: HTTPMethod { HTTPMethod(rawValue: old.method) }
        var path: RequestPath { RequestPath(old.path) }
        var headers: HTTPHeaders { HTTPHeaders(old.headers.map { HTTPField(name: .init($0.key), value: $0.value) }) }
        var query: QueryItems {
            QueryItems(old.queryParameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        }
        var content: RequestContent { old.body.map { .json($0) } ?? .none }
        var name: String { "\(Old.self)" }
    }

    static func moved(_ client: APIClient) async throws -> Film {
        let film = try await client.send(Moved(old: LegacyFilm(id: "toy-story")))
        return film
    }

    // MARK: What comes in its place

    enum FilmsAPI: Route {
        case all
        case one(id: String)
        case rate(id: String, Rating)
        case addPoster(id: String, file: String)

        var method: HTTPMethod {
            switch self {
            case .all, .one: .get
            case .rate, .addPoster: .post
            }
        }

        var path: RequestPath {
            switch self {
            case .all: "/films"
            case .one(let id): "/films/\(id)"
            case .rate(let id, _): "/films/\(id)/rating"
            case .addPoster(let id, _): "/films/\(id)/poster"
            }
        }

        var content: RequestContent {
            switch self {
            case .all, .one: .none
            case .rate(_, let rating): .json(rating)
            case .addPoster(_, let file): .multipart([.file("poster", path: file)])
            }
        }
    }

    static func get(_ client: APIClient) async throws -> (Film, [Film]) {
        let film: Film = try await client.send(FilmsAPI.one(id: "toy-story").decoding())
        let films = try await client.send(FilmsAPI.all.decoding([Film].self))
        return (film, films)
    }

    static func post(_ client: APIClient) async throws -> Rating {
        let rating: Rating = try await client.send(FilmsAPI.rate(id: "toy-story", Rating(stars: 5)).decoding())
        return rating
    }

    /// A call that says what it answers.
    struct AddPoster: Endpoint {
        typealias Response = Void
        let film: String
        let file: String
        var method: HTTPMethod { .post }
        var path: RequestPath { "/films/\(film)/poster" }
        var content: RequestContent { .multipart([.file("poster", path: file)]) }
    }

    static func upload(_ client: APIClient, _ file: String) async throws {
        try await client.send(AddPoster(film: "toy-story", file: file))
    }

    enum Stage: String {
        case production = "https://api.example.com/v1"
        case staging = "https://staging.example.com/v1"
    }

    static func client(_ stage: Stage, _ store: TokenStore) -> APIClient {
        let pipeline = Pipeline.standard
            .adding(.logging())
            .adding(.coalescing())
            .adding(.caching())
            .adding(.bearer(store) { try await $0.client.send(renew($0.tokens.refreshToken)) })
            .adding(.onRequest(at: .cookies) { request, context in request.headers["X-Request-ID"] = "\(context.id)" })
        let client = APIClient(
            baseURL: BaseURL(stringLiteral: stage.rawValue), pipeline: pipeline,
            configuration: APIClient.Configuration(codecs: .snakeCase))
        return client
    }

    static func renew(_ token: String?) -> Request<Tokens> {
        .post("/auth/refresh", body: .json(["refreshToken": .init(token ?? "")]))
    }

    static func download(_ client: APIClient, to file: String) async throws {
        try await client.download(Request<Data>.get("/films/toy-story/trailer"), to: file)
    }

    static func errors(_ client: APIClient) async -> String {
        do {
            let film: Film = try await client.send(FilmsAPI.one(id: "toy-story").decoding())
            return film.title
        } catch {
            switch error.reason {
            case .cancelled: return ""
            // Still signed in.
            case .notAuthenticated(.refreshFailed): return error.message
            case .status(.unauthorized), .notAuthenticated: return "Please sign in."
            case .status(.notFound): return "There is no such film."
            case .status(.tooManyRequests): return error.recoverySuggestion ?? error.message
            default: return error.body(as: Complaint.self)?.message ?? error.message
            }
        }
    }

    static func completion(
        _ client: APIClient, show: @escaping @Sendable (String) -> Void
    ) -> APIClient.RequestHandle {
        let handle = client.send(FilmsAPI.all.decoding([Film].self), deliverOn: .queue(.main)) { result in
            switch result {
            case .success(let films): show("\(films.count) films")
            case .failure(let error): if !error.isCancelled { show(error.message) }
            }
        }
        return handle
    }

    static func test() async throws {
        let client = APIClient.mock {
            $0.on(FilmsAPI.self) { _ in #"[{"id": "toy-story", "title": "Toy Story", "year": 1995}]"# }
        }
        let films: [Film] = try await client.send(FilmsAPI.all.decoding())
        #expect(films.map(\.title) == ["Toy Story"])
        #expect(client.recordedCalls.map(\.path) == ["/films"])
    }

    static func testFailure() async throws {
        let client = APIClient.mock { $0.fail(with: NetworkError(statusCode: 503)) }
        let error = await #expect(throws: NetworkError.self) {
            let _: [Film] = try await client.send(FilmsAPI.all.decoding())
        }
        #expect(error?.isServerError == true)
    }
}
