// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The routes for a catalogue of films and their characters. Clients can rate films, and signed-in users can upload
/// posters.
struct FilmsArea {
    let auth: AuthArea
    private let ratings = Locked<[Film.ID: Rating]>([:])

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/v1/films", list)
        routes.on(.get, "/v1/films/:id", one)
        routes.on(.get, "/v1/films/:id/characters", characters)
        routes.on(.post, "/v1/films/:id/rating", rate)
        routes.on(.post, "/v1/films/:id/poster", takePoster)
    }

    private func list(_ request: RecordedRequest) throws -> MockResponse {
        let ratings = ratings.withLock { $0 }
        let films = try Page(request).of(Film.all).map { Shown($0, ratings[$0.id]) }
        return try .snakeCaseJSON(films).cached(for: 0, asking: request)
    }

    private func one(_ request: RecordedRequest) throws -> MockResponse {
        let film = try film(request)
        let rating = ratings.withLock { $0[film.id] }
        return try .snakeCaseJSON(Shown(film, rating)).cached(for: 0, asking: request)
    }

    private func characters(_ request: RecordedRequest) throws -> MockResponse {
        try .snakeCaseJSON(film(request).characters).cached(for: 3600, asking: request)
    }

    private func rate(_ request: RecordedRequest) throws -> MockResponse {
        let film = try film(request)
        let given: GivenRating = try request.json()
        guard (1...5).contains(given.stars) else {
            throw Refusal(.unprocessableContent, "A rating must be one to five stars.", code: "invalid_rating")
        }
        let rating = ratings.withLock { ratings in
            ratings[film.id, default: Rating()].add(given.stars)
            return ratings[film.id]
        }
        return try .snakeCaseJSON(Shown(film, rating), status: .created)
    }

    /// Accepts a form with an image in the file part `poster`, and responds with a description of the received file.
    /// Requires an access token.
    private func takePoster(_ request: RecordedRequest) throws -> MockResponse {
        let film = try film(request)
        let account = try auth.account(of: request)
        let parts = try MultipartReader.parts(of: request)
        guard let file = parts.first(where: { $0.name == "poster" }), let fileName = file.fileName else {
            throw Refusal(.unprocessableContent, "The form has no file called poster.", code: "no_poster")
        }
        guard let type = file.mediaType, type.type == "image" else {
            throw Refusal(.unsupportedMediaType, "A poster must be an image.", code: "no_picture")
        }
        let poster = Poster(
            filmId: film.id, fileName: fileName, mediaType: type.essence, bytes: file.content.count,
            checksum: CRC32(file.content).hexadecimal, uploadedBy: account.username)
        return try .snakeCaseJSON(poster, status: .created)
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

    private struct Poster: Encodable {
        let filmId, fileName, mediaType: String
        let bytes: Int
        let checksum, uploadedBy: String
    }

    /// The number and the sum of the ratings of a film.
    private struct Rating: Sendable {
        private(set) var count = 0
        private var stars = 0

        mutating func add(_ more: Int) {
            count += 1
            stars += more
        }

        var average: Double { Double(stars) / Double(max(count, 1)) }
    }

    /// A film with its average rating. The average is omitted while there are no ratings.
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

extension MockResponse {
    /// Returns the response with an entity tag and a lifetime in seconds, or a 304 if the request's If-None-Match
    /// contains that tag (RFC 9110 §13.1.2).
    fileprivate func cached(for seconds: Int, asking request: RecordedRequest) -> MockResponse {
        guard case .data(let content) = body else { return self }
        let tag = "\"\(CRC32(content).hexadecimal)\""
        let fields: HTTPHeaders = [.eTag: tag, .cacheControl: "max-age=\(seconds)"]
        let known = (request.headers[.ifNoneMatch] ?? "").replacing(" ", with: "").split(separator: ",").map(
            String.init)
        guard known.contains(where: { ["*", tag, "W/" + tag].contains($0) }) else { return with(headers: fields) }
        return .status(.notModified, headers: fields)
    }
}
