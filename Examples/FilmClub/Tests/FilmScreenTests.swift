// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import FilmCatalogue
import Testing

@testable import FilmClub

@MainActor
@Suite(.timeLimit(.minutes(1)))
struct FilmScreenTests {
    private let gate = Gate()

    /// A film that two people gave four stars, and a rating that is answered when the gate is open.
    private func mock(_ answer: @escaping @Sendable () throws -> HTTPResponse) -> MockTransport {
        MockTransport {
            $0.on(.get, "/v1/films/:id", .json(Film.m.with(4, of: 2), codecs: .snakeCase))
            $0.on(.get, "/v1/films/:id/characters", .json(text: #"[{"name": "Hans", "voiced_by": "Peter Lorre"}]"#))
            $0.on(.post, "/v1/films/:id/rating") { [gate] _ -> HTTPResponse in
                await gate.pass()
                return try answer()
            }
        }
    }

    @Test("a rating shows at once, and then what the server makes of it")
    func rating() async {
        // Another user has rated the film in the meantime.
        let screen = FilmScreen("m", mock { .json(Film.m.with(3.5, of: 4), codecs: .snakeCase) }.service())
        await screen.load()
        #expect(screen.characters.value?.value.first?.voicedBy == "Peter Lorre")
        async let rating: Void = screen.rate(1)
        await gate.arrival()
        #expect(screen.film.value?.value == Film.m.with(3, of: 3))
        gate.open()
        await rating
        #expect(screen.film.value?.value == Film.m.with(3.5, of: 4))
        #expect(screen.refusal == nil)
    }

    @Test("a rating that is refused is taken back, and the screen says why")
    func rollback() async {
        let screen = FilmScreen(
            "m",
            mock { .json(text: #"{"message": "One to five stars."}"#, status: .unprocessableContent) }.service())
        await screen.load()
        async let rating: Void = screen.rate(9)
        await gate.arrival()
        #expect(screen.film.value?.value.ratingCount == 3)
        gate.open()
        await rating
        #expect(screen.film.value?.value == Film.m.with(4, of: 2))
        #expect(screen.refusal == .refused("One to five stars."))
        #expect(screen.problem == nil)
    }

    @Test("characters that do not come leave the film")
    func parts() async {
        let mock = mock { .status(.ok) }
        mock.fail(.get, "/v1/films/:id/characters", with: NetworkError(statusCode: 500))
        let screen = FilmScreen("m", mock.service())
        await screen.load()
        #expect(screen.film.value?.value.title == "M" && screen.problem == nil)
        #expect(screen.characters.error?.isServerError == true)
    }

    @Test("a poster without a signed-in user is not sent")
    func poster() async {
        let mock = mock { .status(.ok) }
        let screen = FilmScreen("m", mock.service())
        await screen.uploadPoster(#filePath)
        #expect(screen.refusal == .signedOut && screen.poster == nil)
        #expect(mock.requestCount == 0)
    }
}
