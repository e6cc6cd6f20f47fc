// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI
import FilmCatalogue
import Observation

/// One film with its characters, to be rated.
@MainActor @Observable
final class FilmScreen {
    /// The film.
    let film: Loadable<Sourced<Film>>
    /// Who is in it. Comes and fails on its own.
    let characters: Loadable<Sourced<[FilmCharacter]>>
    /// The poster that was sent last.
    private(set) var poster: PosterReceipt?
    /// Why the last rating or poster was not taken; nil again when the alert is closed.
    var refusal: FilmError?

    @ObservationIgnored private let id: Film.ID
    @ObservationIgnored private let service: any FilmService

    /// The screen of a film, empty until `load()`.
    init(_ id: Film.ID, _ service: any FilmService) {
        self.id = id
        self.service = service
        film = Loadable { try await service.film(id) }
        characters = Loadable { try await service.characters(of: id) }
    }

    /// Loads both parts at the same time.
    func load() async { await LoadableGroup(film, characters).load() }

    /// Loads both parts again.
    func refresh() async { await LoadableGroup(film, characters).refresh() }

    /// Shows the new rating at once, then what the server makes of it. One that is refused is taken back.
    func rate(_ stars: Int) async {
        await attempt {
            try await film.change {
                $0.value = $0.value.rated(stars)
            } replacement: {
                try await service.rate(id, stars: stars)
            }
        }
    }

    /// Sends a picture.
    func uploadPoster(_ path: String) async {
        await attempt { poster = try await service.uploadPoster(path, for: id) }
    }

    /// What the film failed with.
    var problem: FilmError? { film.error.flatMap { FilmError($0) } }

    /// What to say above the film; nil if there is nothing to say.
    func notice(at now: Date = Date()) -> String? { film.value?.source.notice(at: now) }

    private func attempt(_ work: @MainActor () async throws -> Void) async {
        refusal = nil
        do { try await work() } catch { refusal = FilmError(NetworkError(error)) }
    }
}
