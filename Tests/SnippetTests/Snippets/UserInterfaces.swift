// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI

nonisolated struct SeenFilm: Decodable, Identifiable {
    let id: Int
    var isSeen: Bool
    let poster: String
}

extension Request {
    static func seenFilm(_ id: Int) -> Request<SeenFilm> { .get("/seen/\(id)") }
    static func seenFilms(page: Int) -> Request<[SeenFilm]> { .get("/seen", query: ["page": page]) }
    static func addSeen(_ film: SeenFilm) -> Request<SeenFilm> { .post("/seen", query: ["poster": film.poster]) }
    static func forget(_ id: Int) -> Request<Void> { .delete("/seen/\(id)") }
    static func markSeen(_ id: Int) -> Request<Void> { .put("/seen/\(id)") }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
enum UserInterfacesPage {
    static func oneValue(_ client: APIClient, _ screen: Screen) async {
        let user = Loadable(.user(id: 1), from: client)
        await user.load()
        switch user.state {
        case .idle: break
        case .loading(let previous): screen.show(previous?.firstName ?? "…")
        case .loaded(let user, _): screen.show(user)
        case .failed(let error, _): screen.show(error.message)
        }
    }

    static func several(_ client: APIClient, _ statistics: Loadable<Int>) async -> Data? {
        let film = Loadable(.seenFilm(7), from: client)
        // one after the other
        let poster = film.then { try await client.send(Request<Data>.get(url: $0.poster)) }
        let dashboard = LoadableGroup(poster, statistics)  // at the same time

        await dashboard.load()
        return poster.value
    }

    static func list(_ client: APIClient) -> PagedLoadable<SeenFilm, Int> {
        let films = PagedLoadable<SeenFilm, Int> { page in
            let films = try await client.send(.seenFilms(page: page ?? 1))
            return Page(items: films, next: films.isEmpty ? nil : (page ?? 1) + 1)
        }

        return films
    }

    static func change(_ films: PagedLoadable<SeenFilm, Int>, _ film: SeenFilm, _ client: APIClient) async throws {
        try await films.change(film.id) {
            $0.isSeen = true
        } commit: {
            try await client.send(.markSeen(film.id))
        }
    }

    static func insertAndRemove(
        _ films: PagedLoadable<SeenFilm, Int>, _ draft: SeenFilm, _ film: SeenFilm, _ client: APIClient
    ) async throws {
        // the server's item takes its place
        try await films.insert(draft) { try await client.send(.addSeen(draft)) }
        try await films.remove(film.id) { try await client.send(.forget(film.id)) }
    }
}
