// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI
import FilmCatalogue
import Observation

/// The catalogue, page by page.
@MainActor @Observable
final class FilmList {
    /// The films, and whether more are on their way.
    @ObservationIgnored private(set) lazy var films = makeFilms()
    /// Where the last page came from; nil before the first.
    private(set) var source: FilmSource?

    @ObservationIgnored private let service: any FilmService
    @ObservationIgnored private let pageSize: Int

    /// A list that is empty until `films.load()`.
    init(_ service: any FilmService, pageSize: Int = 5) {
        self.service = service
        self.pageSize = pageSize
    }

    /// What the last page failed with.
    var problem: FilmError? { films.error.flatMap { FilmError($0) } }

    /// What to say above the films; nil if there is nothing to say.
    func notice(at now: Date = Date()) -> String? { source?.notice(at: now) }

    private func makeFilms() -> PagedLoadable<Film, Int> {
        PagedLoadable { [weak self, service, pageSize] cursor in
            let skip = cursor ?? 0
            let page = try await service.films(skip: skip, limit: pageSize)
            self?.source = page.source
            return Page(items: page.value, next: page.value.count < pageSize ? nil : skip + pageSize)
        }
    }
}
