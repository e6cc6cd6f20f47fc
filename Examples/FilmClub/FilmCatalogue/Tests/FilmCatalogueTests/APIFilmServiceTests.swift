// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@testable import FilmCatalogue

@Suite(.timeLimit(.minutes(1)))
struct APIFilmServiceTests {
    @Test(
        "A route says everything about its call",
        arguments: [
            (FilmsAPI.list(skip: 5, limit: 5), "GET https://films.example.com/v1/films?skip=5&limit=5"),
            (.film("up"), "GET https://films.example.com/v1/films/up"),
            (.film("a b/c"), "GET https://films.example.com/v1/films/a%20b%2Fc"),
            (.characters("up"), "GET https://films.example.com/v1/films/up/characters"),
            (.rate("up", Rating(stars: 5)), "POST https://films.example.com/v1/films/up/rating"),
        ])
    func routes(route: FilmsAPI, line: String) async throws {
        let mock = MockTransport { $0.onAny { _ in .json(text: "null") } }
        let client = APIClient.mock(mock, baseURL: FilmEnvironment.production.baseURL)
        _ = try await client.send(route.decoding(JSONValue.self))
        #expect(mock.requests.map { "\($0.request)" } == [line])
    }

    @Test("The server's names and dates are read")
    func decoding() async throws {
        let text = #"""
            {"id": "up", "title": "Up", "year": 2009, "release_date": "2009-05-29T00:00:00Z", "running_minutes": 96,
             "rating_count": 2, "average_rating": 4.5}
            """#
        let service = MockTransport { $0.on(.get, "/v1/films/:id", .json(text: text)) }.service()
        let film = try await service.film("up").value
        #expect(film.releaseDate == Date(timeIntervalSince1970: 1_243_555_200))
        #expect(film.averageRating == 4.5 && film.runningMinutes == 96)
        #expect(film.rated(3).averageRating == 4 && film.rated(3).ratingCount == 3)
    }

    @Test("The list is tried three times where that may help, and once where it does not")
    func retries() async throws {
        let mock = MockTransport {
            $0.fail(.first(2), with: NetworkError(statusCode: 503))
            $0.onAny { _ in .films([.metropolis, .m]) }
        }
        let films = try await mock.service().films(skip: 0, limit: 5).value
        #expect(films == [.metropolis, .m])
        #expect(mock.requestCount == 3)

        for (status, attempts) in [(500, 3), (404, 1), (429, 1), (422, 1)] {
            let mock = MockTransport { $0.fail(with: NetworkError(statusCode: status)) }
            let error = await #expect(throws: NetworkError.self) { try await mock.service().films(skip: 0, limit: 5) }
            #expect(error?.statusCode == status)
            #expect(mock.requestCount == attempts)
        }
    }

    @Test("A rating is sent once")
    func ratings() async throws {
        let mock = MockTransport { $0.fail(with: NetworkError(.connectionLost(.requestMayHaveArrived))) }
        await #expect(throws: NetworkError.self) { try await mock.service().rate("up", stars: 4) }
        #expect(mock.requests.map(\.text) == [#"{"stars":4}"#])
    }

    @Test("Twenty calls for the same film are one request")
    func coalescing() async throws {
        let gate = Gate()
        let (joins, joined) = AsyncStream.makeStream(of: Void.self)
        let mock = MockTransport {
            $0.onAny { _ in
                await gate.pass()
                return .json(Film.metropolis, codecs: .snakeCase)
            }
        }
        let service = mock.service(observers: [JoinObserver(joined: joined)])
        let calls = (0..<20).map { _ in Task { try await service.film("metropolis").value } }
        var count = 0
        for await _ in joins {
            count += 1
            if count == 19 { break }
        }
        gate.open()
        for call in calls { #expect(try await call.value == .metropolis) }
        #expect(mock.requestCount == 1)
    }

    @Test("The token is sent with ratings, and with no read")
    func tokens() async throws {
        let (entries, log) = AsyncStream.makeStream(of: String.self)
        let mock = MockTransport {
            $0.on(.post, "/auth/login", .json(text: #"{"accessToken": "secret-token", "id": 1}"#))
            $0.on(.post, "/v1/films/:id/rating", .json(Film.m, codecs: .snakeCase))
            $0.on(.get, "/v1/films/:id", .json(Film.m, codecs: .snakeCase))
        }
        let service = mock.service { log.yield("\($0)") }
        let error = await #expect(throws: NetworkError.self) { try await service.uploadPoster(#filePath, for: "m") }
        #expect(error?.isUnauthorized == true && mock.requestCount == 0)
        try await service.signIn("emilys", password: "emilyspass")
        _ = try await service.rate("m", stars: 5)
        _ = try await service.film("m")
        try await service.signOut()
        _ = try await service.rate("m", stars: 5)
        #expect(
            mock.requests.map { $0.request.headers[.authorization] } == [nil, "Bearer secret-token", nil, nil])
        log.finish()
        let lines: [String] = await entries.reduce(into: []) { $0.append($1) }
        #expect(lines.count == 10)
        #expect(!lines.contains { $0.contains("secret-token") || $0.contains("emilyspass") })
    }
}

/// Reports every call that shares the request of another.
private struct JoinObserver: RequestObserver {
    let joined: AsyncStream<Void>.Continuation

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        if case .joined = event { joined.yield() }
    }
}
