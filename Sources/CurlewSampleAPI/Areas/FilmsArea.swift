// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting

/// A catalogue of films with their characters, which takes ratings.
struct FilmsArea {
    private let ratings = Locked<[Film.ID: Rating]>([:])

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/v1/films", list)
        routes.on(.get, "/v1/films/:id", one)
        routes.on(.get, "/v1/films/:id/characters", characters)
        routes.on(.post, "/v1/films/:id/rating", rate)
    }

    private func list(_ request: RecordedRequest) throws -> MockResponse {
        let ratings = ratings.withLock { $0 }
        return try .snakeCaseJSON(try Page(request).of(Film.all).map { Shown($0, ratings[$0.id]) })
    }

    private func one(_ request: RecordedRequest) throws -> MockResponse {
        let film = try film(request)
        let rating = ratings.withLock { $0[film.id] }
        return try .snakeCaseJSON(Shown(film, rating))
    }

    private func characters(_ request: RecordedRequest) throws -> MockResponse {
        try .snakeCaseJSON(film(request).characters)
    }

    private func rate(_ request: RecordedRequest) throws -> MockResponse {
        let film = try film(request)
        let given: GivenRating = try request.json()
        guard (1...5).contains(given.stars) else {
            throw Refusal(.unprocessableContent, "A rating has one to five stars.", code: "invalid_rating")
        }
        let rating = ratings.withLock { ratings in
            ratings[film.id, default: Rating()].add(given.stars)
            return ratings[film.id]
        }
        return try .snakeCaseJSON(Shown(film, rating), status: .created)
    }

    private func film(_ request: RecordedRequest) throws -> Film {
        guard let film = Film.all.first(where: { $0.id == request.parameters["id"] }) else {
            throw Refusal(.notFound, "There is no such film.", code: "film_not_found")
        }
        return film
    }

    private struct GivenRating: Decodable {
        let stars: Int
    }

    /// What viewers gave so far.
    private struct Rating: Sendable {
        private(set) var count = 0
        private var stars = 0

        mutating func add(_ more: Int) {
            count += 1
            stars += more
        }

        var average: Double { Double(stars) / Double(max(count, 1)) }
    }

    /// A film with its rating; the average is left out as long as there is none.
    private struct Shown: Encodable {
        let id, title, releaseDate: String
        let year, runningMinutes, ratingCount: Int
        let averageRating: Double?

        init(_ film: Film, _ rating: Rating?) {
            id = film.id
            title = film.title
            year = film.year
            releaseDate = film.releaseDate + "T00:00:00Z"
            runningMinutes = film.runningMinutes
            ratingCount = rating?.count ?? 0
            averageRating = rating?.average
        }
    }
}
