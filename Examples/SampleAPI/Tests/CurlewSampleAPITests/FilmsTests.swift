// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FilmsTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    /// Without a second try: a failure is what the call gives.
    private var once: APIClient {
        var options = RequestOptions()
        options.retry = .never
        return sample.films.with(options: options)
    }

    @Test("Two films from the catalogue")
    func twoFilms() async throws {
        let films = try await sample.films.send(.films(limit: 2))
        #expect(films.map(\.id) == ["toy-story", "a-bugs-life"])
        #expect(films[0].title == "Toy Story")
        #expect(films[0].year == 1995)
        #expect(films[0].releaseDate == Date(timeIntervalSince1970: 816_998_400))
        #expect(films[0].averageRating == nil)
    }

    @Test("A 503 shows as a server error")
    func serverError() async throws {
        let client = once
        let error = await #expect(throws: NetworkError.self) { try await client.send(.films(limit: 2, fail: 503)) }
        #expect(error?.isServerError == true)
        #expect(error?.message == "The service is not available right now.")
        #expect(error?.recoverySuggestion == "Try again later.")
        #expect(error?.body(as: FilmError.self)?.code == "on_demand")
        #expect(error?.retryAfter == .seconds(2))
    }

    @Test("A 429 says when to come back")
    func rateLimited() async throws {
        let client = once.with(query: ["retry_after": 7])
        let error = await #expect(throws: NetworkError.self) { try await client.send(.films(limit: 2, fail: 429)) }
        #expect(error?.isRateLimited == true)
        #expect(error?.retryAfter == .seconds(7))
    }

    @Test("Any failure can be asked for, and what is none gets 400", arguments: [400, 404, 500, 504, 599, 200, 600])
    func onDemand(status: Int) async throws {
        let client = once
        let error = await #expect(throws: NetworkError.self) { try await client.send(.films(limit: 1, fail: status)) }
        #expect(error?.statusCode == ((400...599).contains(status) ? status : 400))
    }

    @Test("An unknown film gets 404 with the service's own code", arguments: ["", "/characters"])
    func unknown(suffix: String) async throws {
        let client = sample.films
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(.get("/films/unknown\(raw: suffix)"))
        }
        #expect(error?.isNotFound == true)
        #expect(error?.body(as: FilmError.self)?.code == "film_not_found")
    }

    @Test("Characters come with their voices")
    func characters() async throws {
        let answer: JSONValue = try await sample.client.send(.get("/v1/films/toy-story/characters"))
        #expect(answer[0]["name"].string == "Woody")
        #expect(answer[0]["voiced_by"].string == "Tom Hanks")
    }

    @Test("Ratings are averaged, and remembered by this service alone")
    func rating() async throws {
        let client = sample.films
        #expect(try await client.send(.rate("up", stars: 5)).averageRating == 5)
        #expect(try await client.send(.rate("up", stars: 4)).averageRating == 4.5)
        #expect(try await client.send(.film("up")).ratingCount == 2)
        #expect(try await client.send(.film("toy-story")).ratingCount == 0)
        let other = try Sample()
        #expect(try await other.films.send(.film("up")).ratingCount == 0)
        other.api.stop()
    }

    @Test("A rating beyond five stars gets 422", arguments: [0, 6, -1])
    func invalidRating(stars: Int) async throws {
        let client = sample.films
        let error = await #expect(throws: NetworkError.self) { try await client.send(.rate("up", stars: stars)) }
        #expect(error?.statusCode == 422)
        #expect(error?.body(as: FilmError.self)?.code == "invalid_rating")
        #expect(try await client.send(.film("up")).ratingCount == 0)
    }

    @Test("A call that fails on demand changes nothing")
    func failureChangesNothing() async throws {
        let client = sample.films
        await #expect(throws: NetworkError.self) {
            try await client.with(query: ["fail": 500]).send(.rate("up", stars: 5))
        }
        #expect(try await client.send(.film("up")).ratingCount == 0)
    }

    @Test("What has not changed is not sent again, and characters need not be asked for")
    func validators() async throws {
        let client = sample.films
        let before = try await client.response(for: .film("up"))
        let tag = try #require(before.headers[.eTag])
        #expect(before.headers[.cacheControl] == "max-age=0")
        let asked = Request<HTTPResponse>(.get, "/films/up").header(.ifNoneMatch, "\"other\", \(tag)")
        #expect(try await client.send(asked).status == .notModified)
        _ = try await client.send(.rate("up", stars: 3))
        #expect(try await client.send(asked).status == .ok)
        let characters = try await client.response(for: Request<JSONValue>.get("/films/up/characters"))
        #expect(characters.headers[.cacheControl] == "max-age=3600")
    }

    @Test("A poster is taken from who has signed in, and arrives as it was sent")
    func poster() async throws {
        let client = sample.client
        let upload = Request<JSONValue>.post(
            "/v1/films/up/poster", body: .multipart([.data("poster", Data("a picture".utf8), fileName: "up.png")]))
        let error = await #expect(throws: NetworkError.self) { try await client.send(upload) }
        #expect(error?.isUnauthorized == true)

        let login = try await client.send(.login("emilys", "emilyspass"))
        try await sample.tokens.signIn(Tokens(accessToken: login.accessToken))
        let poster = try await client.send(upload)
        #expect(poster["film_id"].string == "up")
        #expect(poster["file_name"].string == "up.png")
        #expect(poster["media_type"].string == "image/png")
        #expect(poster["bytes"].int == 9)
        #expect(poster["uploaded_by"].string == "emilys")
    }

    @Test(
        "What is no picture in a form is refused",
        arguments: [
            (RequestContent.multipart([.field("poster", "text")]), 422),
            (.multipart([.data("poster", Data(), fileName: "a.exe")]), 415),
        ])
    func refusedPosters(content: RequestContent, status: Int) async throws {
        let client = sample.client
        let login = try await client.send(.login("emilys", "emilyspass"))
        try await sample.tokens.signIn(Tokens(accessToken: login.accessToken))
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(.post("/v1/films/up/poster", body: content))
        }
        #expect(error?.statusCode == status)
    }
}
