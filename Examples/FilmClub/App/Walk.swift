// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import FilmCatalogue
import FilmClubModel

/// Somebody uses the app: on a day when the service has troubles, and until it is gone.
@MainActor
final class Walk {
    private let paper: Paper
    private let here: SampleAPI
    private let elsewhere: SampleAPI
    private let outage = Outage()
    private let folder: URL
    private var club: Club

    init(_ paper: Paper) throws {
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
        return Club(environments) { APIFilmService($0, cache: cache, transport: outage, log: Paper.log) }
    }

    private func open() async {
        paper.heading("The app opens for the first time, and the service has troubles")
        await outage.begin(3)
        await club.list.films.load()
        paper.says(club.list.problem?.message)
        paper.check("three attempts, then a sentence for people", club.list.problem == .serverFailed(500))

        paper.heading("“Try again”, and the troubles end")
        await outage.begin(1)
        await club.list.films.retry()
        await club.list.films.loadMore()
        let films = club.list.films.items
        for film in films { paper.film(film) }
        paper.check("all films, in two pages", films.count == 8 && club.list.problem == nil)
    }

    private func look() async {
        paper.heading("A film, and who is in it")
        await club.screen(for: "toy-story").load()
        let screen = club.screen(for: "toy-story")
        await screen.load()
        if let film = screen.film.value { paper.film(film.value) }
        let characters = screen.characters.value?.value ?? []
        paper.line(characters.map { "\($0.name) (\($0.voicedBy))" }.joined(separator: ", "))
        paper.line("film        \(screen.film.value?.verdict ?? "")")
        paper.line("characters  \(screen.characters.value?.verdict ?? "")")
        paper.check(
            "the second time the film is asked about, its characters are not",
            screen.film.value?.source == .server && screen.characters.value?.source == .cache)

        let unknown = club.screen(for: "citizen-kane")
        await unknown.load()
        paper.says(unknown.problem?.message)
        paper.check("a film that is not there is told from a service that is not", unknown.problem == .notFound)
    }

    private func rate() async {
        paper.heading("Five stars, then eleven")
        let screen = club.screen(for: "toy-story")
        await screen.load()
        await screen.rate(5)
        if let film = screen.film.value { paper.film(film.value) }
        paper.check("the rating counts", screen.film.value?.value.averageRating == 5 && screen.refusal == nil)
        await screen.rate(11)
        paper.says(screen.refusal?.message)
        paper.check(
            "what is refused is taken back, in the words of the service",
            screen.film.value?.value.ratingCount == 1
                && screen.refusal == .refused("A rating has one to five stars."))
    }

    private func upload() async throws {
        paper.heading("A poster, by nobody and by Emily")
        let file = folder.appending(path: "toy-story.png").path
        let picture = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try picture.write(to: URL(filePath: file))
        let screen = club.screen(for: "toy-story")
        await screen.load()
        await screen.uploadPoster(file)
        paper.says(screen.refusal?.message)
        paper.check("nothing is sent for nobody", screen.refusal == .signedOut && screen.poster == nil)

        await club.signIn("emilys", password: "a guess")
        paper.says(club.refusal?.message)
        await club.signIn("emilys", password: "emilyspass")
        await screen.uploadPoster(file)
        if let poster = screen.poster {
            paper.line("\(poster.fileName), \(poster.bytes) bytes, by \(poster.uploadedBy)")
        }
        paper.check(
            "Emily's poster arrives",
            screen.poster?.bytes == picture.count && screen.poster?.uploadedBy == club.member)
    }

    private func crowd() async {
        paper.heading("Twenty screens ask for the same film at once")
        let service = APIFilmService(.local(here.url), log: { _ in })
        let before = here.requestCount
        let calls = (0..<20).map { _ in Task { try await service.film("up").value.title } }
        var titles: [String] = []
        for call in calls { titles += (try? await call.value).map { [$0] } ?? [] }
        let requests = here.requestCount - before
        paper.line("\(requests) request\(requests == 1 ? "" : "s")")
        paper.check("they share", titles == Array(repeating: "Up", count: 20) && requests < 20)
    }

    private func loseTheServer() async {
        paper.heading("The service is gone, and the app is opened again")
        here.stop()
        club = Self.launch(club.environments, outage, folder)
        await club.list.films.load()
        for film in club.list.films.items { paper.film(film) }
        paper.says(club.list.notice())
        paper.check("the list can still be read", club.list.films.items.count == 5 && club.list.notice() != nil)

        let screen = club.screen(for: "toy-story")
        await screen.load()
        paper.line("film        \(screen.film.value?.verdict ?? "")")
        paper.check("and what was looked at, with its rating", screen.film.value?.value.averageRating == 5)
        await screen.rate(1)
        paper.says(screen.refusal?.message)
        paper.check("a rating is not pretended", screen.film.value?.value.averageRating == 5 && screen.refusal != nil)

        let other = club.screen(for: "up")
        await other.load()
        paper.says(other.problem?.message)
        paper.check("what was never read is not there", other.problem != nil)
    }

    private func switchEnvironment() async {
        paper.heading("Another environment")
        club.look(at: .local(elsewhere.url))
        await club.list.films.load()
        if let film = club.list.films.items.first { paper.film(film) }
        paper.check(
            "it answers, and knows nothing of the ratings elsewhere",
            club.list.source == .server && club.list.films.items.first?.ratingCount == 0 && club.member == nil)
    }
}
#endif
