// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import FilmCatalogue
import Testing

@testable import FilmClub

@MainActor
@Suite(.timeLimit(.minutes(1)))
struct FilmListTests {
    @Test("A view model loads two films from the mock")
    func twoFilmsFromTheMock() async {
        let mock = MockTransport { $0.on(.get, "/v1/films", .films([.metropolis, .m])) }
        let list = FilmList(mock.service())
        await list.films.load()
        #expect(list.films.items == [.metropolis, .m])
        #expect(list.problem == nil && list.notice() == nil)
        #expect(mock.requests.map { "\($0.method) \($0.path)" } == ["GET /v1/films"])
    }

    @Test("A 503 shows as a server error")
    func a503ShowsAsAServerError() async {
        let mock = MockTransport { $0.fail(with: NetworkError(statusCode: 503)) }
        let list = FilmList(mock.service())
        await list.films.load()
        #expect(list.problem == .serverFailed(503))
        #expect(list.problem?.message == "The catalogue has a problem (503). Try again later.")
        #expect(list.films.items.isEmpty && !list.films.isLoading)
    }

    @Test("After a failure a retry loads the films")
    func retry() async {
        let mock = MockTransport {
            $0.fail(.first(3), with: NetworkError(.unreachable))
            $0.on(.get, "/v1/films", .films([.m]))
        }
        let list = FilmList(mock.service())
        await list.films.load()
        #expect(list.problem == .noAnswer("The server could not be reached."))
        await list.films.retry()
        #expect(list.films.items == [.m] && list.problem == nil)
    }

    @Test("A cancelled load shows no error")
    func cancelledLoad() async {
        let gate = Gate()
        let mock = MockTransport {
            $0.on(.get, "/v1/films") { _ -> HTTPResponse in
                await gate.pass()
                return .films([.m])
            }
        }
        let list = FilmList(mock.service())
        let load = Task { await list.films.load() }
        await gate.arrival()
        #expect(list.films.isLoading)
        load.cancel()
        await load.value
        #expect(list.problem == nil && !list.films.isLoading && list.films.items.isEmpty)
        gate.open()
    }

    @Test("Pages follow each other until one is short")
    func pages() async {
        let films = (1...5).map { Film(id: "\($0)", title: "Film \($0)", year: 2000, releaseDate: .distantPast) }
        let mock = MockTransport {
            $0.on(.get, "/v1/films") { call -> HTTPResponse in
                let skip = call.query["skip"].flatMap { Int($0) } ?? 0
                return .films(Array(films.dropFirst(skip).prefix(3)))
            }
        }
        let list = FilmList(mock.service(), pageSize: 3)
        await list.films.load()
        #expect(list.films.items.count == 3 && list.films.hasMore)
        list.films.appeared(films[2])
        await list.films.loadMore()
        #expect(list.films.items == films && !list.films.hasMore)
    }

    @Test("Without a server the list says from when it is")
    func notice() async {
        let clock = ManualClock(date: Date(timeIntervalSince1970: 1_700_000_000), skipsWaits: true)
        let mock = MockTransport {
            // The three attempts of one call.
            for number in 2...4 { $0.fail(.call(number), with: NetworkError(.unreachable)) }
            $0.on(.get, "/v1/films", .films([.m]))
        }
        let service = mock.service(time: clock)
        let before = FilmList(service)
        await before.films.load()
        #expect(before.notice(at: clock.date) == nil)
        clock.advance(by: .seconds(7200))
        let list = FilmList(service)
        await list.films.load()
        #expect(list.films.items == [.m] && list.problem == nil)
        #expect(list.notice(at: clock.date) == "The catalogue does not answer. This is what it said 2 hours ago.")
        // A refresh takes nothing that the server has not said now.
        await list.films.refresh()
        #expect(list.notice(at: clock.date) == nil && list.problem == nil)
        mock.fail(with: NetworkError(.unreachable))
        await list.films.refresh()
        #expect(list.films.items == [.m] && list.problem != nil)
    }

    @Test(
        "An age is shown in the largest unit that fits",
        arguments: [(0.5, "just now"), (1, "1 second ago"), (90, "1 minute ago"), (200_000, "2 days ago")])
    func ages(seconds: Double, words: String) {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let source = FilmSource.offline(asOf: now.addingTimeInterval(-seconds))
        #expect(source.notice(at: now) == "The catalogue does not answer. This is what it said \(words).")
    }
}
