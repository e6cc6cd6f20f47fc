// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import FilmCatalogue

/// A catalogue of two films in memory, for previews: the screens know a `FilmService`, and not which.
struct PreviewFilmService: FilmService {
    enum Condition {
        case fine, waiting, offline, failing
    }

    let condition: Condition

    func films(skip: Int, limit: Int) async throws(NetworkError) -> Sourced<[Film]> {
        try await answer(skip == 0 ? Self.films : [])
    }

    func film(_ id: Film.ID) async throws(NetworkError) -> Sourced<Film> {
        guard let film = Self.films.first(where: { $0.id == id }) else { throw NetworkError(statusCode: 404) }
        return try await answer(film)
    }

    func characters(of id: Film.ID) async throws(NetworkError) -> Sourced<[FilmCharacter]> { try await answer([]) }

    func rate(_ id: Film.ID, stars: Int) async throws(NetworkError) -> Sourced<Film> {
        var film = try await film(id)
        film.value = film.value.rated(stars)
        return film
    }

    func uploadPoster(_ path: String, for id: Film.ID) async throws(NetworkError) -> PosterReceipt {
        throw NetworkError(statusCode: 401)
    }

    func signIn(_ name: String, password: String) async throws(NetworkError) {}
    func signOut() async throws(NetworkError) {}

    private func answer<Value>(_ value: Value) async throws(NetworkError) -> Sourced<Value> {
        switch condition {
        case .fine: return Sourced(value)
        case .offline: return Sourced(value, from: .offline(asOf: Date(timeIntervalSinceNow: -3600)))
        case .failing: throw NetworkError(statusCode: 503)
        case .waiting:
            do { try await Task.sleep(for: .seconds(3600)) } catch { throw NetworkError(.cancelled) }
            return Sourced(value)
        }
    }

    private static let films = [
        Film(
            id: "metropolis", title: "Metropolis", year: 1927, releaseDate: Date(timeIntervalSince1970: -1_356_134_400),
            runningMinutes: 153, ratingCount: 12, averageRating: 4.6),
        Film(id: "m", title: "M", year: 1931, releaseDate: Date(timeIntervalSince1970: -1_219_190_400)),
    ]
}

extension Club {
    static func preview(_ condition: PreviewFilmService.Condition = .fine) -> Club {
        Club([.staging, .production]) { _ in PreviewFilmService(condition: condition) }
    }
}

extension FilmScreen {
    static func preview(_ condition: PreviewFilmService.Condition = .fine) -> FilmScreen {
        FilmScreen("metropolis", PreviewFilmService(condition: condition))
    }
}
#endif
