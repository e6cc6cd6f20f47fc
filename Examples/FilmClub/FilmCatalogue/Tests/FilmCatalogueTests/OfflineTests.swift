// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@testable import FilmCatalogue

@Suite(.timeLimit(.minutes(1)))
struct OfflineTests {
    @Test("What was read can be read after a restart without a server, and says from when it is")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "films-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "films.sqlite").path
        let began = Date(timeIntervalSince1970: 1_700_000_000)

        let working = MockTransport { $0.onAny { _ in .films([.metropolis, .m]) } }
        let first = working.service(cache: APIFilmService.diskCache(at: path), time: ManualClock(date: began))
        let films = try await first.films(skip: 0, limit: 5)
        #expect(films.source == .server)

        let broken = MockTransport { $0.fail(with: NetworkError(.unreachable)) }
        let later = ManualClock(date: began.addingTimeInterval(86_400), skipsWaits: true)
        let second = broken.service(cache: APIFilmService.diskCache(at: path), time: later)
        let kept = try await second.films(skip: 0, limit: 5)
        #expect(kept.value == films.value)
        #expect(kept.source == .offline(asOf: began))
        #expect(kept.verdict.hasPrefix("from the cache, stale"))
        #expect(broken.requestCount == 3)
    }

    @Test("A server that fails is no reason to show nothing, and after a month it is")
    func failing() async throws {
        let clock = ManualClock(skipsWaits: true)
        let mock = MockTransport {
            for number in 2...8 {
                let isLate = number.isMultiple(of: 2)
                $0.fail(
                    .call(number), with: isLate ? NetworkError(.timedOut(.firstByte)) : NetworkError(statusCode: 503))
            }
            $0.onAny { _ in .films([.m]) }
        }
        let service = mock.service(time: clock)
        #expect(try await service.films(skip: 0, limit: 5).source == .server)
        for _ in 2...3 {
            clock.advance(by: .seconds(86_400))
            let kept = try await service.films(skip: 0, limit: 5)
            #expect(kept.value == [.m] && kept.source != .server)
        }
        clock.advance(by: .seconds(40 * 86_400))
        #expect(try await service.films(skip: 0, limit: 5).source == .server)
        #expect(mock.requestCount == 9)
    }

    @Test("What is still good is not asked about, and what the server calls good is not sent again")
    func validation() async throws {
        let mock = MockTransport {
            $0.on(.get, "/v1/films/:id/characters") { _ in
                .json(text: #"[{"name": "Maria", "voiced_by": "B. Helm"}]"#, headers: [.cacheControl: "max-age=60"])
            }
            $0.on(.get, "/v1/films") { call -> HTTPResponse in
                let isKnown = call.request.headers[.ifNoneMatch] == "\"1\""
                return isKnown ? .status(.notModified, headers: [.eTag: "\"1\""]) : .films([.metropolis])
            }
        }
        let service = mock.service()
        for source in [FilmSource.server, .cache] {
            #expect(try await service.characters(of: "metropolis").source == source)
        }
        for _ in 1...2 {
            let films = try await service.films(skip: 0, limit: 5)
            #expect(films.value == [.metropolis] && films.source == .server)
        }
        #expect(mock.requestCount == 3)
    }
}
