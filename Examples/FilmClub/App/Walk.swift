// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import ExampleSupport
import FilmCatalogue

/// A user works with the app: on a day when the service has faults, and until the service is gone.
@MainActor
final class Walk {
    private let paper: Report
    private let here: SampleAPI
    private let elsewhere: SampleAPI
    private let outage = Outage()
    private let folder: URL
    private var club: Club

    init(_ paper: Report) throws {
        self.paper = paper
        here = try SampleAPI()
        elsewhere = try SampleAPI()
        folder = FileManager.default.temporaryDirectory.appending(path: "film-club-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        club = Self.launch([.local(here.url), .local(elsewhere.url)], outage, folder)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func run() async throws {
        await open()
        await look()
        await rate()
        try await upload()
        await crowd()
        await loseTheServer()
        await switchEnvironment()
        elsewhere.stop()
    }

    /// What a start of the app has: the file of the cache, and nothing else of the last one.
    private static func launch(_ environments: [FilmEnvironment], _ outage: Outage, _ folder: URL) -> Club {
        let cache = APIFilmService.diskCache(at: folder.appending(path: "films.sqlite").path)
        return Club(environments) { APIFilmService($0, cache: cache, transport: outage, log: Report.log) }
    }

    private func open() async {
        paper.title("The app opens for the first time, and the service has troubles")
        await outage.begin(3)
        await club.list.films.load()
        paper.says(club.list.problem?.message)
        paper.expect(club.list.problem == .serverFailed(500), "three attempts, then a sentence for people")

        paper.title("“Try again”, and the troubles end")
        await outage.begin(1)
        await club.list.films.retry()
        await club.list.films.loadMore()
        let films = club.list.films.items
        for film in films { paper.film(film) }
        paper.expect(films.count == 8 && club.list.problem == nil, "all films, in two pages")
    }

    private func look() async {
        paper.title("A film, and who is in it")
        await club.screen(for: "toy-story").load()
        let screen = club.screen(for: "toy-story")
        await screen.load()
        if let film = screen.film.value { paper.film(film.value) }
        let characters = screen.characters.value?.value ?? []
        paper.line(characters.map { "\($0.name) (\($0.voicedBy))" }.joined(separator: ", "))
        paper.show("film", screen.film.value?.verdict ?? "")
        paper.show("characters", screen.characters.value?.verdict ?? "")
        paper.expect(
            screen.film.value?.source == .server && screen.characters.value?.source == .cache,
            "the second time the film is asked about, its characters are not")

        let unknown = club.screen(for: "citizen-kane")
        await unknown.load()
        paper.says(unknown.problem?.message)
        paper.expect(unknown.problem == .notFound, "a film that is not there is told from a service that is not")
    }

    private func rate() async {
        paper.title("Five stars, then eleven")
        let screen = club.screen(for: "toy-story")
        await screen.load()
        await screen.rate(5)
        if let film = screen.film.value { paper.film(film.value) }
        paper.expect(screen.film.value?.value.averageRating == 5 && screen.refusal == nil, "the rating counts")
        await screen.rate(11)
        paper.says(screen.refusal?.message)
        paper.expect(
            screen.film.value?.value.ratingCount == 1
                && screen.refusal == .refused("A rating must be one to five stars."),
            "what is refused is reverted, with the reason of the service")
    }

    private func upload() async throws {
        paper.title("A poster, signed out and as Emily")
        let file = folder.appending(path: "toy-story.png").path
        let picture = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try picture.write(to: URL(filePath: file))
        let screen = club.screen(for: "toy-story")
        await screen.load()
        await screen.uploadPoster(file)
        paper.says(screen.refusal?.message)
        paper.expect(screen.refusal == .signedOut && screen.poster == nil, "nothing is sent without a user")

        await club.signIn("emilys", password: "a guess")
        paper.says(club.refusal?.message)
        await club.signIn("emilys", password: "emilyspass")
        await screen.uploadPoster(file)
        if let poster = screen.poster {
            paper.line("\(poster.fileName), \(poster.bytes) bytes, by \(poster.uploadedBy)")
        }
        paper.expect(
            screen.poster?.bytes == picture.count && screen.poster?.uploadedBy == club.member, "Emily's poster arrives")
    }

    private func crowd() async {
        paper.title("Twenty screens ask for the same film at once")
        let service = APIFilmService(.local(here.url), log: { _ in })
        let before = here.requestCount
        let calls = (0..<20).map { _ in Task { try await service.film("up").value.title } }
        var titles: [String] = []
        for call in calls { titles += (try? await call.value).map { [$0] } ?? [] }
        let requests = here.requestCount - before
        paper.line("\(requests) request\(requests == 1 ? "" : "s")")
        paper.expect(titles == Array(repeating: "Up", count: 20) && requests < 20, "they share")
    }

    private func loseTheServer() async {
        paper.title("The service is gone, and the app is opened again")
        here.stop()
        club = Self.launch(club.environments, outage, folder)
        await club.list.films.load()
        for film in club.list.films.items { paper.film(film) }
        paper.says(club.list.notice())
        paper.expect(club.list.films.items.count == 5 && club.list.notice() != nil, "the list can still be read")

        let screen = club.screen(for: "toy-story")
        await screen.load()
        paper.show("film", screen.film.value?.verdict ?? "")
        paper.expect(screen.film.value?.value.averageRating == 5, "and what was looked at, with its rating")
        await screen.rate(1)
        paper.says(screen.refusal?.message)
        paper.expect(screen.film.value?.value.averageRating == 5 && screen.refusal != nil, "a rating is not pretended")

        let other = club.screen(for: "up")
        await other.load()
        paper.says(other.problem?.message)
        paper.expect(other.problem != nil, "what was never read is not there")
    }

    private func switchEnvironment() async {
        paper.title("Another environment")
        club.look(at: .local(elsewhere.url))
        await club.list.films.load()
        if let film = club.list.films.items.first { paper.film(film) }
        paper.expect(
            club.list.source == .server && club.list.films.items.first?.ratingCount == 0 && club.member == nil,
            "it answers, and knows nothing of the ratings elsewhere")
    }
}
#endif
