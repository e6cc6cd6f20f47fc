// SPDX-License-Identifier: MIT

import Curlew
import FilmCatalogue
import Observation

/// The app: which environment it looks at, and who has signed in there.
@MainActor @Observable
final class Club {
    /// Where one can look.
    let environments: [FilmEnvironment]
    /// Where the app looks now.
    private(set) var environment: FilmEnvironment
    /// The list of that environment.
    private(set) var list: FilmList
    /// The signed-in user; nil if there is none.
    private(set) var member: String?
    /// Why the sign-in failed; nil again when the alert is closed.
    var refusal: FilmError?

    @ObservationIgnored private let makeService: @MainActor (FilmEnvironment) -> any FilmService
    @ObservationIgnored private var service: any FilmService

    /// An app that begins with the first environment, or production.
    init(
        _ environments: [FilmEnvironment],
        service makeService: @escaping @MainActor (FilmEnvironment) -> any FilmService
    ) {
        self.environments = environments
        self.makeService = makeService
        let environment = environments.first ?? .production
        let service = makeService(environment)
        self.environment = environment
        self.service = service
        list = FilmList(service)
    }

    /// Looks elsewhere from now on. Nothing of what was there is carried over, the sign-in least of all.
    func look(at environment: FilmEnvironment) {
        guard environment != self.environment else { return }
        list.films.cancel()
        self.environment = environment
        service = makeService(environment)
        list = FilmList(service)
        member = nil
    }

    /// The screen of a film.
    func screen(for id: Film.ID) -> FilmScreen { FilmScreen(id, service) }

    /// Signs in; `member` or `refusal` is the result.
    func signIn(_ name: String, password: String) async {
        refusal = nil
        let (service, place) = (service, environment)
        do {
            try await service.signIn(name, password: password)
            if place == environment { member = name }
        } catch {
            if place == environment { refusal = FilmError(error) }
        }
    }
}
