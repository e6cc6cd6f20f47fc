// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import FilmCatalogue

extension Film {
    static let metropolis = Film(
        id: "metropolis", title: "Metropolis", year: 1927, releaseDate: Date(timeIntervalSince1970: -1_356_134_400))
    static let m = Film(id: "m", title: "M", year: 1931, releaseDate: Date(timeIntervalSince1970: -1_219_190_400))

    func with(_ average: Double, of count: Int) -> Film {
        var film = self
        film.averageRating = average
        film.ratingCount = count
        return film
    }
}

extension HTTPResponse {
    /// Films as the service sends them: to be kept, and to be asked about each time.
    static func films(_ films: [Film]) -> HTTPResponse {
        .json(films, headers: [.eTag: "\"1\"", .cacheControl: "max-age=0"], codecs: .snakeCase)
    }
}

extension MockTransport {
    /// The service over this mock. Waits take no time unless a clock says otherwise.
    func service(
        _ environment: FilmEnvironment = .production, time: any TimeSource = ManualClock.skippingWaits
    ) -> APIFilmService {
        APIFilmService(
            environment, transport: self, configuration: APIClient.Configuration(time: time), log: { _ in })
    }
}

/// Holds responses back until it is opened, and reports each request. Waiting calls can be cancelled.
struct Gate: Sendable {
    private let asked = AsyncStream.makeStream(of: Void.self)
    private let opened = AsyncStream.makeStream(of: Void.self)

    func pass() async {
        asked.continuation.yield()
        for await _ in opened.stream {}
    }

    func arrival() async {
        for await _ in asked.stream { return }
    }

    func open() { opened.continuation.finish() }
}
