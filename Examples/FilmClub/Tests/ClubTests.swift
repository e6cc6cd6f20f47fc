// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import FilmCatalogue
import Testing

@testable import FilmClub

@MainActor
@Suite(.timeLimit(.minutes(1)))
struct ClubTests {
    @Test("another environment is another base URL, and has no user signed in")
    func environments() async {
        let mock = MockTransport {
            $0.on(.post, "/auth/login", .json(text: #"{"accessToken": "token"}"#))
            $0.on(.post, "/v1/films/:id/rating", .json(Film.m, codecs: .snakeCase))
            $0.on(.get, "/v1/films", .films([.m]))
        }
        let club = Club([.staging, .production]) { mock.service($0) }
        await club.list.films.load()
        await club.signIn("emilys", password: "emilyspass")
        #expect(club.member == "emilys")
        await club.screen(for: "m").rate(5)

        club.look(at: .production)
        #expect(club.environment == .production && club.member == nil && club.list.films.items.isEmpty)
        await club.list.films.load()
        await club.screen(for: "m").rate(5)
        let (here, there) = ("https://staging.films.example.com", "https://films.example.com")
        #expect(mock.requests.map(\.request.origin.description) == [here, here, here, there, there])
        #expect(mock.requests.map { $0.request.headers[.authorization] } == [nil, nil, "Bearer token", nil, nil])
    }

    @Test("a refused user sees the reason")
    func refusedSignIn() async {
        let mock = MockTransport {
            $0.on(.post, "/auth/login", .json(text: #"{"message": "Invalid credentials"}"#, status: .badRequest))
        }
        let club = Club([.staging]) { mock.service($0) }
        await club.signIn("emilys", password: "a guess")
        #expect(club.member == nil && club.refusal == .refused("Invalid credentials"))
    }

    @Test("a poster is sent from its file to the service, for the signed-in user")
    func poster() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "poster-\(UUID().uuidString).png")
        try Data(repeating: 7, count: 5000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let club = Club([.local(api.url)]) { APIFilmService($0, log: { _ in }) }
        await club.signIn("emilys", password: "emilyspass")
        let screen = club.screen(for: "up")
        await screen.uploadPoster(file.path)
        #expect(screen.refusal == nil)
        #expect(screen.poster?.bytes == 5000 && screen.poster?.uploadedBy == "emilys")
        #expect(screen.poster?.mediaType == "image/png")
    }
}
