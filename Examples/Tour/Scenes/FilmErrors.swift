// SPDX-License-Identifier: MIT

import Curlew

struct FilmErrors: Scene {
    let title = "Errors"
    let about = "One error type with two texts: one for the person at the screen, one for the developer."

    func run(on stage: Stage) async throws {
        let client = stage.films

        do {
            _ = try await client.with(query: ["fail": 503]).send(FilmsAPI.list(limit: 2).decoding([Film].self))
            stage.unexpected("films from a service that is down")
        } catch {
            stage.show(error)
            stage.expect(
                error.isServerError && error.isRetryable, "503 is the server's error, and trying again may help")
        }

        do {
            _ = try await client.send(FilmsAPI.film("citizen-kane").decoding(Film.self))
            stage.unexpected("a film that is not in the catalogue")
        } catch {
            let answer = error.body(as: ServiceError.self)
            stage.show(error)
            stage.expect(error.isNotFound, "404 is easy to tell from the rest")
            stage.expect(
                answer?.code == "film_not_found", "the service's own error says: \(answer?.message ?? "nothing")")
        }

        do {
            _ = try await client.with(query: ["fail": 429, "retry_after": 7])
                .send(FilmsAPI.film("up").decoding(Film.self))
            stage.unexpected("a film in spite of the limit")
        } catch {
            stage.show("for the person", "\(error.message) \(error.recoverySuggestion ?? "")")
            stage.expect(error.isRateLimited && error.retryAfter == .seconds(7), "429 says when to come back")
        }

        do {
            // The wrong codecs for this one call: the service writes release_date, the model has releaseDate.
            _ = try await client.send(FilmsAPI.film("up").decoding(Film.self), codecs: .iso8601)
            stage.unexpected("a film read with the wrong codecs")
        } catch {
            stage.show(error)
            stage.expect(error.reason == .decoding, "an answer that is something else says where, and what to do")
        }
    }
}
