// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

@testable import FilmCatalogue

extension Film {
    static let metropolis = Film(
        id: "metropolis", title: "Metropolis", year: 1927, releaseDate: Date(timeIntervalSince1970: -1_356_134_400))
    static let m = Film(id: "m", title: "M", year: 1931, releaseDate: Date(timeIntervalSince1970: -1_219_190_400))
}

extension HTTPResponse {
    /// Films as the service sends them: to be kept, and to be asked about each time.
    static func films(_ films: [Film]) -> HTTPResponse {
        .json(films, headers: [.eTag: "\"1\"", .cacheControl: "max-age=0"], codecs: .snakeCase)
    }
}

extension MockTransport {
    /// The service over this mock. Waits take no time.
    func service(
        cache: any HTTPCache.Store = HTTPCache.MemoryStore(), observers: [any RequestObserver] = [],
        time: any TimeSource = ManualClock.skippingWaits,
        log: @escaping @Sendable (LogEntry) -> Void = { _ in }
    ) -> APIFilmService {
        APIFilmService(
            .production, cache: cache, transport: self,
            configuration: APIClient.Configuration(observers: observers, time: time),
            log: log)
    }
}

/// Holds responses back until it is opened. Waiting calls can be cancelled.
struct Gate: Sendable {
    private let opened = AsyncStream.makeStream(of: Void.self)

    func pass() async {
        for await _ in opened.stream {}
    }

    func open() { opened.continuation.finish() }
}
