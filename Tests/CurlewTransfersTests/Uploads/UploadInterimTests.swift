// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCore
@testable import CurlewTransfers

/// What the machine of the draft learns from interim responses with status 104, and what it does not believe.
@Suite(.timeLimit(.minutes(1)))
struct UploadInterimTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)
    private static let lost = UploadCourse.Event.failed(NetworkError(.connectionLost(.requestMayHaveArrived)))

    private static func reply(_ status: Int = 204, _ headers: HTTPHeaders = [:]) -> UploadCourse.Event {
        .answered(UploadReply(status: HTTPStatus(status), headers: headers, url: "https://files.test/up"))
    }

    private static func note(_ course: inout UploadCourse, _ headers: HTTPHeaders) {
        course.note(UploadInterim(headers: headers, url: "https://files.test/up"), at: now)
    }

    /// A machine that has sent its first request, which has content of 40 of 100 bytes.
    private static func creating(_ dialect: any UploadDialect = DraftDialect()) throws -> UploadCourse {
        var plan = UploadPlan(metadata: try UploadMetadata(Upload.Options(), path: nil))
        plan.length = 100
        plan.features.minimumAppend = 40
        plan.chunkSize = 40
        var course = UploadCourse(dialect, plan)
        _ = course.handle(.begin, at: now, random: 1)
        _ = course.handle(.read(UploadChunk(count: 40, isLast: false)), at: now, random: 1)
        return course
    }

    private static func word(_ action: UploadCourse.Action) -> String {
        switch action {
        case .send(let call): call.method.rawValue
        case .read(let offset, _, _): "read \(offset)"
        case .wait: "wait"
        case .finish: "finish"
        case .fail(let error): "fail \(error.reason)"
        }
    }

    private static func next(_ course: inout UploadCourse, _ event: UploadCourse.Event) -> String {
        word(course.handle(event, at: now, random: 1))
    }

    @Test("The URL of an interim response continues a creation that was cut; without one, it is repeated")
    func location() throws {
        for (location, step) in [("/up/7", "HEAD"), (nil, "read 0")] as [(String?, String)] {
            var course = try Self.creating()
            if let location { Self.note(&course, [.location: location]) }
            #expect(course.url == location.map { "https://files.test" + $0 })
            #expect(Self.next(&course, Self.lost) == "wait")
            #expect(Self.next(&course, .waited) == step)
        }
    }

    @Test("A final response must name the same URL; one that completes the upload need not")
    func moved() throws {
        for (location, word) in [
            ("/up/7", "read 40"), ("https://files.test/up/7", "read 40"), ("/up/8", "fail badResponse"),
        ] {
            var course = try Self.creating()
            Self.note(&course, [.location: "/up/7"])
            let reply = Self.reply(201, [.location: location, "Upload-Offset": "40"])
            #expect(Self.next(&course, reply) == word)
        }
    }

    @Test(
        "URLs and offsets that cannot be are not believed",
        arguments: [
            [.location: "http://files.test/up/7"], [.location: "https://a:b@files.test/up/7"], [.location: "ftp://x/"],
            ["Upload-Offset": "41"], ["Upload-Offset": "-1"], ["Upload-Offset": "1.5"], [:],
        ] as [HTTPHeaders])
    func implausible(headers: HTTPHeaders) throws {
        var course = try Self.creating()
        Self.note(&course, headers)
        #expect(course.url == nil && course.confirmed == 0)
    }

    @Test("Offsets of interim responses are confirmed bytes and progress, and never change what is sent next")
    func offsets() throws {
        var course = try Self.creating()
        Self.note(&course, [.location: "/up/7", "Upload-Limit": "max-append-size=50"])
        Self.note(&course, ["Upload-Offset": "10"])
        #expect(course.confirmed == 10 && course.offset == 0 && course.plan.features.maximumAppend == 50)
        #expect(Self.next(&course, Self.reply(201, [.location: "/up/7", "Upload-Offset": "40"])) == "read 40")
        #expect(Self.next(&course, .read(UploadChunk(count: 40, isLast: false))) == "PATCH")
        course.failures = 3
        for offset in ["50", "45", "81", "80"] { Self.note(&course, ["Upload-Offset": offset]) }
        #expect(course.confirmed == 80 && course.offset == 40 && course.failures == 0)
        // The final response has the same offset as the last interim one, which is no failure.
        #expect(Self.next(&course, Self.reply(204, ["Upload-Complete": "?0", "Upload-Offset": "80"])) == "read 80")
    }

    @Test("A success that does not say that the upload is complete is not believed: the server is asked")
    func portal() throws {
        var course = try Self.creating()
        _ = Self.next(&course, Self.reply(201, [.location: "/up/7", "Upload-Offset": "40"]))
        #expect(Self.next(&course, .read(UploadChunk(count: 60, isLast: true))) == "PATCH")
        #expect(Self.next(&course, Self.reply(200)) == "HEAD")
        #expect(Self.next(&course, Self.reply(204, ["Upload-Offset": "40", "Upload-Complete": "?0"])) == "read 40")
        #expect(Self.next(&course, .read(UploadChunk(count: 60, isLast: true))) == "PATCH")
        #expect(Self.next(&course, Self.reply(200, ["Upload-Complete": "?1"])) == "finish")
    }

    @Test(
        "After a redirect, the URL of an interim response belongs to the server that sent it", arguments: [false, true])
    func redirected(isCut: Bool) async throws {
        let creations = Locked(0)
        let methods = Locked<[String]>([])
        let transport = ClosureTransport { request, context in
            methods.withLock { $0.append("\(request.method.rawValue) \(request.urlString)") }
            if case .stream = request.body.kind { for try await _ in try request.body.chunks() {} }
            if request.origin.host == "a.test" {
                return HTTPResponse(
                    status: .permanentRedirect, headers: [.location: "https://b.test/files"], url: request.urlString)
            }
            guard request.method == .post else {
                let isQuestion = request.method == .head
                return HTTPResponse(
                    status: .noContent,
                    headers: isQuestion
                        ? ["Upload-Offset": "0", "Upload-Complete": "?0"]
                        : ["Upload-Offset": "5", "Upload-Complete": "?1"],
                    url: request.urlString)
            }
            context.record(.interim(HTTPStatus(104), [.location: "/files/1"]))
            let number = creations.withLock { creations in
                creations += 1
                return creations
            }
            if isCut, number == 1 { throw NetworkError(.connectionLost(.requestMayHaveArrived)) }
            return HTTPResponse(
                status: .created, headers: [.location: "/files/1", "Upload-Complete": "?0", "Upload-Offset": "0"],
                url: request.urlString)
        }
        let client = APIClient(
            baseURL: "https://a.test", pipeline: [.redirects()], transport: transport,
            configuration: APIClient.Configuration(time: ManualClock.skippingWaits))
        let result = try await client.upload(
            .data(Data("12345".utf8)), to: .post("/files"), options: Upload.Options(.draft))
        #expect(result.url == "https://b.test/files/1", "\(methods.withLock { $0 })")
        #expect(creations.withLock { $0 } == 1)
        #expect(methods.withLock { $0.last } == "PATCH https://b.test/files/1")
        #expect(!methods.withLock { $0.contains("PATCH https://a.test/files/1") })
    }

    @Test("A handler of confirmed bytes may cause another report, and values ascend")
    func acknowledgement() async {
        let values = Locked<[Int64]>([])
        let shared = Locked<UploadAcknowledgement?>(nil)
        let acknowledgement = UploadAcknowledgement { value in
            values.withLock { $0.append(value) }
            if value < 1000, let own = shared.withLock({ $0 }) { own.report(0, 1000) }
        }
        shared.withLock { $0 = acknowledgement }
        acknowledgement.report(0, 10)
        await withTaskGroup(of: Void.self) { group in
            for part in 1...20 {
                group.addTask { for offset in 1...50 { acknowledgement.report(part, Int64(offset)) } }
            }
        }
        let all = values.withLock { $0 }
        #expect(all.prefix(2) == [10, 1000] && all.last == 2000)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
        shared.withLock { $0 = nil }
    }

    @Test("Bytes that an earlier pass of a part reports late do not count for the next one")
    func lateCounts() async throws {
        let values = Locked<[TransferProgress]>([])
        let meter = UploadMeter(
            { value in values.withLock { $0.append(value) } }, parts: 1, total: 100, time: ManualClock())
        let body = RequestBody.bytes(Data(repeating: 1, count: 50))
        let first = try #require(meter.counting(body, for: 0, at: 0, length: 50).counted).makeCounter()
        first(30)
        let second = try #require(meter.counting(body, for: 0, at: 50, length: 50).counted).makeCounter()
        first(20)
        #expect(meter.completed == 50)
        second(50)
        #expect(meter.completed == 100)
        meter.end()
        #expect(values.withLock { $0.last?.completed } == 100)
    }

    @Test(
        "Upload-Limit: unknown members are ignored, and a known one of another type ends the field",
        arguments: [
            ("max-size=10", ["max-size": 10]), ("x=?1, max-age=5;a=b, y=\"max-size=1, \\\"\"", ["max-age": 5]),
            ("max-size=10, max-age=?1", [:]), ("max-size", [:]), ("max-size;a=1, max-age=2", [:]), ("max-age=-1", [:]),
            ("max-age=1.5", [:]), ("later, max-age=7", ["max-age": 7]), ("", [:]),
            ("max-age=1, max-age=2", ["max-age": 2]),
        ] as [(String, [String: Int64])])
    func limits(text: String, members: [String: Int64]) {
        #expect(UploadFields.limits(text) == members)
    }
}
