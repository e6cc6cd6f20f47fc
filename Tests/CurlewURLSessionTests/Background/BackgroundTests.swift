// SPDX-License-Identifier: MIT

import CurlewCookies
import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewURLSession

/// What is kept of background transfers, which is the same on every platform.
@Suite(.timeLimit(.minutes(1)))
struct BackgroundTests {
    private func transfer(_ name: String = "film", tags: [String: String] = [:]) throws -> BackgroundTransfer {
        let request = try HTTPRequest(
            .post, url: "https://a.example/films?token=hidden&page=2", headers: ["Authorization": "Bearer hidden"])
        return BackgroundTransfer(
            request, kind: .download(to: "films/\(name)"), tags: tags, created: Date(timeIntervalSince1970: 1000))
    }

    private let outcome = BackgroundOutcome(
        HTTPResponse(status: .ok, headers: ["Content-Type": "application/json", "Set-Cookie": "a=hidden"]), file: nil)

    @Test("a description travels as text and returns the same")
    func text() throws {
        let original = try transfer(tags: ["film": "7", "what/ever": "ü"])
        let text = try original.text()
        #expect(BackgroundTransfer(text: text) == original)
        #expect(!text.contains("hidden"))
        #expect(text.contains("page=2"))
    }

    @Test(
        "text of others, or cut off, is none",
        arguments: [nil, "", "upload 7", "curlew-1:", "curlew-1:{}", "curlew-2:{}"])
    func foreignText(text: String?) {
        #expect(BackgroundTransfer(text: text) == nil)
    }

    @Test("tags have a limit")
    func limit() throws {
        let long = try transfer(tags: ["a": String(repeating: "x", count: 20_000)])
        #expect { try long.text() } throws: { ($0 as? NetworkError)?.reason == .invalidRequest }
    }

    @Test("a relaunch finds what runs, what ended, and what the system lost")
    func relaunch() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (running, ended, lost, unknown) = (try transfer(), try transfer(), try transfer(), try transfer())
        var ledger = BackgroundLedger()
        for each in [running, ended, lost] { ledger.start(each) }
        let isFirst = ledger.finish(ended, outcome)
        #expect(isFirst)
        try ledger.save(to: path)

        var later = BackgroundLedger(file: path)
        #expect(later == ledger)
        let missing = later.reattach([running, unknown])
        #expect(missing == [lost])
        #expect(later.entries.map(\.state) == [.running, .finished(outcome), .lost, .running])
        for each in [running, ended, lost] { later.acknowledge(each.id) }
        #expect(later.entries.map(\.transfer) == [running, unknown])
        #expect(BackgroundLedger(file: path + "-not").entries.isEmpty)
    }

    @Test("what was started while the system's list of tasks was on its way is not lost")
    func race() throws {
        let (old, new) = (try transfer(), try transfer())
        var ledger = BackgroundLedger()
        ledger.start(old)
        let loaded = Set(ledger.entries.map(\.transfer.id))
        ledger.start(new)
        let lost = ledger.reattach([], candidates: loaded)
        #expect(lost == [old])
        #expect(ledger[new.id]?.state == .running && ledger[old.id]?.state == .lost)
    }

    @Test("the first outcome counts, also one of an unknown transfer, or one that counted as lost")
    func outcomes() throws {
        let one = try transfer()
        var ledger = BackgroundLedger()
        let results = [ledger.finish(one, outcome), ledger.finish(one, BackgroundOutcome(NetworkError(.cancelled)))]
        #expect(results == [true, false])
        #expect(ledger[one.id]?.state == .finished(outcome))
        let two = try transfer()
        ledger.start(two)
        ledger.reattach([])
        #expect(ledger[two.id]?.state == .lost)
        let finished = ledger.finish(two, outcome)
        #expect(finished && ledger[two.id]?.state == .finished(outcome))
    }

    @Test("it forgets the oldest that ended, never what runs")
    func capacity() throws {
        var ledger = BackgroundLedger()
        let first = try transfer()
        ledger.start(first)
        for _ in 0..<(BackgroundLedger.capacity + 5) { ledger.finish(try transfer(), outcome) }
        #expect(ledger.entries.count == BackgroundLedger.capacity)
        #expect(ledger[first.id]?.state == .running)
    }

    @Test("an outcome is an answer for an endpoint to decode")
    func decoding() async throws {
        struct Film: Codable, Equatable, Sendable { let title: String }
        struct GetFilm: Endpoint {
            typealias Response = Film
            var path: RequestPath { "/films/7" }
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(#"{"title":"Metropolis"}"#.utf8).write(to: URL(fileURLWithPath: path))
        let outcome = BackgroundOutcome(
            HTTPResponse(status: .ok, headers: ["Content-Type": "application/json", "Set-Cookie": "a=1"]), file: path)
        #expect(outcome.headers == ["Content-Type": "application/json"])
        #expect(try await GetFilm().decode(try outcome.response(), using: .json) == Film(title: "Metropolis"))
        #expect { try outcome.response(limit: 3) } throws: {
            ($0 as? NetworkError)?.reason == .limitExceeded(.responseBody)
        }
        let failed = BackgroundOutcome(NetworkError(.unreachable, detail: "No route."))
        #expect(failed.failure == "unreachable: No route.")
        #expect { try failed.response() } throws: {
            ($0 as? NetworkError)?.reason == .connectionLost(.requestMayHaveArrived)
        }
    }

    @Test("certificates in PEM text are found, whatever surrounds them")
    func pem() {
        let text = """
            subject=one
            -----BEGIN CERTIFICATE-----
            AQID
            -----END CERTIFICATE-----
            -----BEGIN CERTIFICATE-----
            BAUG
            -----END CERTIFICATE-----
            -----BEGIN CERTIFICATE-----
            BAUG
            """
        #expect(PEMText.certificates(in: Data(text.utf8)) == [Data([1, 2, 3]), Data([4, 5, 6])])
        #expect(PEMText.certificates(in: Data()).isEmpty)
    }
}
