// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewTransfers

/// The sequence of an upload: which action follows which event.
@Suite(.timeLimit(.minutes(1)))
struct UploadRunTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)
    private static let base = "https://files.test/up/1"

    private static func plan(_ length: Int64 = 100, chunk: Int64 = .max) throws -> UploadPlan {
        var plan = UploadPlan(length: length, metadata: try UploadMetadata(Upload.Options(), path: nil))
        plan.chunkSize = chunk
        return plan
    }

    private static func reply(_ headers: HTTPHeaders = [:]) -> UploadRun.Event {
        .answered(headers, url: base)
    }

    private static func status(_ status: Int, _ headers: HTTPHeaders = [:]) -> UploadRun.Event {
        .failed(
            NetworkError(
                .status(HTTPStatus(status)),
                response: NetworkError.Response(status: HTTPStatus(status), headers: headers, date: now)))
    }

    /// The actions that follow the events, in words.
    private static func words(_ run: inout UploadRun, _ events: [UploadRun.Event]) -> [String] {
        events.map { event in
            switch run.handle(event, at: now, random: 1) {
            case .send(let call):
                let fields = call.fields.filter { $0.name.text.hasPrefix("Upload-") && $0.name != "Upload-Metadata" }
                return ([call.method.rawValue] + fields.map { "\($0.name.text.dropFirst(7))=\($0.value)" })
                    .joined(separator: " ")
            case .read(let offset, let limit, _):
                return "read \(offset) \(limit >= run.plan.length ? "all" : "\(limit)")"
            case .wait(let duration): return "wait \(duration.brief)"
            case .finish: return "finish"
            case .fail(let error): return "fail \(error.reason)"
            }
        }
    }

    private static let lost = UploadRun.Event.failed(NetworkError(.connectionLost(.requestMayHaveArrived)))
    private static let all = UploadRun.Event.read(UploadChunk(count: 100))
    private static let created = reply([.location: "/up/2"])

    @Test("An upload without faults is three requests")
    func sequence() throws {
        var run = UploadRun(try Self.plan())
        #expect(
            Self.words(&run, [.begin, Self.created, Self.all, Self.reply(["Upload-Offset": "100"])])
                == ["POST Length=100", "read 0 all", "PATCH Offset=0", "finish"])
        #expect(run.url == "https://files.test/up/2")
    }

    @Test("After a cut the server is asked, and a response that was lost is noticed")
    func cut() throws {
        var run = UploadRun(try Self.plan())
        _ = Self.words(&run, [.begin, Self.created, Self.all])
        let done = Self.reply(["Upload-Offset": "100", "Upload-Length": "100"])
        #expect(
            Self.words(&run, [Self.lost, .waited, Self.reply(["Upload-Offset": "30"])])
                == ["wait 1 s", "HEAD", "read 30 all"])
        let rest = UploadRun.Event.read(UploadChunk(count: 70))
        #expect(Self.words(&run, [rest, Self.lost, .waited, done]).suffix(3) == ["wait 1 s", "HEAD", "finish"])
    }

    @Test(
        "Each status has its consequence",
        arguments: [
            (404, "POST"), (410, "POST"), (409, "HEAD"), (423, "wait 1 s"), (460, "wait 1 s"), (500, "wait 1 s"),
            (502, "wait 1 s"), (429, "wait 1 s"), (408, "wait 1 s"), (413, "fail"), (412, "fail"), (401, "fail"),
            (403, "fail"), (400, "fail"), (501, "fail"),
        ])
    func statuses(status: Int, consequence: String) throws {
        var run = UploadRun(try Self.plan())
        let words = Self.words(&run, [.begin, Self.created, Self.all, Self.status(status)])
        #expect(words[3].hasPrefix(consequence), "\(words)")
    }

    @Test("Failures without progress end the upload, an eighth of the content allows as many again")
    func bounded() throws {
        var plan = try Self.plan()
        plan.maximumFailures = 3
        var run = UploadRun(plan)
        _ = Self.words(&run, [.begin, Self.created, Self.all])
        func fail(at offset: Int64) -> [String] {
            let found = Self.reply(["Upload-Offset": "\(offset)"])
            let chunk = UploadRun.Event.read(UploadChunk(count: 100 - offset))
            return Self.words(&run, [Self.lost, .waited, found, chunk])
        }
        // The creation is progress; then three failures are allowed each time.
        for offset in [Int64(0), 0, 20, 20, 20, 32] { #expect(fail(at: offset).last?.hasPrefix("PATCH") == true) }
        for seconds in [1, 2, 4] { #expect(fail(at: 33)[0] == "wait \(seconds) s") }
        #expect(Self.words(&run, [Self.lost])[0].hasPrefix("fail"))
    }

    @Test("A lost upload begins anew once, an expired one too")
    func restarts() throws {
        var run = UploadRun(try Self.plan(), url: Self.base)
        #expect(
            Self.words(&run, [.begin, Self.status(404), Self.created, Self.all, Self.status(410)])
                == ["HEAD", "POST Length=100", "read 0 all", "PATCH Offset=0", "fail status 410"])
        var other = UploadRun(try Self.plan(), url: Self.base, expires: Self.now)
        #expect(Self.words(&other, [.begin]) == ["POST Length=100"])
        var longer = UploadRun(try Self.plan(), url: Self.base)
        let wrong = Self.reply(["Upload-Offset": "5", "Upload-Length": "101"])
        #expect(Self.words(&longer, [.begin, wrong]) == ["HEAD", "POST Length=100"])
    }

    @Test("A server that claims bytes that were never sent is not believed")
    func claims() throws {
        var run = UploadRun(try Self.plan(chunk: 10))
        let chunk = UploadRun.Event.read(UploadChunk(count: 10))
        let words = Self.words(&run, [.begin, Self.created, chunk, Self.reply(["Upload-Offset": "11"])])
        #expect(words.last == "fail badResponse")
        var other = UploadRun(try Self.plan(chunk: 10))
        let late = Self.words(
            &other, [.begin, Self.created, chunk, Self.lost, .waited, Self.reply(["Upload-Offset": "50"])])
        #expect(late.last == "fail badResponse")
    }

    @Test(
        "The location is resolved, and never leaves https",
        arguments: [
            ("/up/9", "https://files.test/up/9"), ("9", "https://files.test/up/9"),
            ("https://other.test/9?t=1", "https://other.test/9?t=1"), ("//other.test/9", "https://other.test/9"),
            ("http://files.test/9", nil), ("ftp://files.test/9", nil), ("https://u:p@files.test/9", nil),
            ("\u{0}", nil),
        ])
    func locations(location: String, url: String?) throws {
        var run = UploadRun(try Self.plan())
        let words = Self.words(&run, [.begin, Self.reply([.location: location])])
        #expect(run.url == url)
        #expect(url != nil || words[1] == "fail badResponse")
    }

    @Test("Waits double from a second, with jitter, and what a server asks for is capped")
    func pauses() {
        func pause(_ failures: Int, _ asked: Duration? = nil, _ random: Double = 1) -> Duration {
            UploadRun.pause(after: failures, asked: asked, most: .seconds(60), random)
        }
        #expect([1, 2, 3, 6, 7, 1000].map { pause($0) } == [1, 2, 4, 32, 60, 60].map { Duration.seconds($0) })
        #expect(pause(1, nil, 0) == .milliseconds(500) && pause(1, nil, -5) == .milliseconds(500))
        #expect(pause(1, .seconds(7)) == .seconds(7) && pause(1, .seconds(86_400)) == .seconds(60))
    }

    @Test("Generated events end in an action, never in a trap, and in bounded failures", arguments: 0..<10)
    func fuzz(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var run = UploadRun(
                try Self.plan(chunk: 30), url: Bool.random(using: &random) ? Self.base : nil)
            _ = run.handle(.begin, at: Self.now, random: 0)
            for _ in 0..<30 {
                let numbers = ["0", "30", "100", "-1", "9999999999999999", "999999999999999", "x", "", "3 0"]
                var headers: HTTPHeaders = [:]
                for name in ["Upload-Offset", "Upload-Length", "Upload-Expires", "Location"]
                where Bool.random(using: &random) {
                    headers[HTTPField.Name(name)] = numbers.randomElement(using: &random) ?? ""
                }
                let events: [UploadRun.Event] = [
                    .waited, Self.lost, Self.reply(headers),
                    Self.status([404, 409, 413, 423, 460, 500, 400].randomElement(using: &random) ?? 500, headers),
                    .read(UploadChunk(count: Int64.random(in: 0...30, using: &random))),
                ]
                let action = run.handle(events.randomElement(using: &random) ?? .waited, at: Self.now, random: 0.5)
                if case .read(let offset, let limit, _) = action { #expect(offset >= 0 && limit > 0) }
            }
            #expect(run.failures <= 11, "seed \(seed)")
        }
    }
}
