// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

/// The sequence of an upload: which request, wait or end follows which response.
@Suite(.timeLimit(.minutes(1)))
struct UploadRunTests {
    private enum Reply: Sendable {
        case status(Int, HTTPHeaders = [:])
        case lost

        static let created = Reply.status(201, [.location: "/up/2"])

        /// A success that says how many bytes the server has.
        static func has(_ offset: Int, of length: Int? = nil) -> Reply {
            var headers: HTTPHeaders = ["Upload-Offset": "\(offset)"]
            if let length { headers["Upload-Length"] = "\(length)" }
            return .status(200, headers)
        }
    }

    /// An upload of 100 bytes to a server with given responses; the call is cancelled when there are no more.
    private struct Run {
        private let clock = ManualClock.skippingWaits
        private let source = Upload.Source.data(Data(count: 100))
        private let url = "https://mock.test/up/\(UUID().uuidString)"
        var options = Upload.Options(.tus)

        init() { options.random = { 1 } }

        /// Begins an upload. Returns in words what it does: requests with their offset and their bytes, waits, the end.
        func words(_ replies: [Reply]) async -> [String] {
            await trace(replies) { try await $0.upload(source, to: .post("/files"), options: options) }.words
        }

        func trace(_ replies: [Reply]) async -> (words: [String], urls: [String]) {
            await trace(replies) { try await $0.upload(source, to: .post("/files"), options: options) }
        }

        /// Continues an upload that has a URL.
        func resumedWords(_ replies: [Reply], isExpired: Bool = false) async throws -> [String] {
            let descriptor = Upload.Descriptor(
                endpoint: "https://mock.test/files", path: nil, length: 100, url: url,
                expires: isExpired ? clock.date : nil, fingerprint: try UploadReader(source).fingerprint,
                metadata: try UploadMetadata(options, path: nil))
            return await trace(replies) { try await $0.resume(descriptor, from: source, options: options) }.words
        }

        private func trace(
            _ replies: [Reply], _ work: (APIClient) async throws -> Upload.Result
        ) async -> (words: [String], urls: [String]) {
            let left = Locked(replies[...])
            let seen = Locked<(words: [String], urls: [String], last: SystemTime.Instant)>(([], [], clock.now))
            let transport = MockTransport.answering { [clock] call in
                seen.withLock { seen in
                    let wait = seen.last.duration(to: clock.now)
                    if wait > .zero { seen.words.append("wait \(wait.brief)") }
                    let fields = call.request.headers.filter { $0.name.text.hasPrefix("Upload-") }
                    let facts = fields.map { "\($0.name.text.dropFirst(7))=\($0.value)" }
                    let size = call.body.isEmpty ? [] : ["(\(call.body.count))"]
                    seen.words.append(([call.method.rawValue] + facts + size).joined(separator: " "))
                    seen.urls.append(call.request.urlString)
                    seen.last = clock.now
                }
                switch left.withLock({ $0.popFirst() }) {
                case .status(let status, let headers): return .status(HTTPStatus(status), headers: headers)
                case .lost: throw NetworkError(.connectionLost(.requestMayHaveArrived))
                case nil: throw NetworkError(.cancelled)
                }
            }
            let client = APIClient.mock(transport, configuration: .init(time: clock))
            let error = await uploadFailure { _ = try await work(client) }
            let (words, urls, _) = seen.withLock { $0 }
            return (words + [error.map { "fail \($0.reason)" } ?? "finish"], urls)
        }
    }

    @Test("An upload without faults is two requests")
    func sequence() async {
        let trace = await Run().trace([.created, .has(100)])
        #expect(trace.words == ["POST Length=100", "PATCH Offset=0 (100)", "finish"])
        #expect(trace.urls.last == "https://mock.test/up/2")
    }

    @Test("After a cut the server is asked, and a response that was lost is noticed")
    func cut() async {
        let words = await Run().words([.created, .lost, .has(30), .lost, .has(100, of: 100)])
        #expect(
            words == [
                "POST Length=100", "PATCH Offset=0 (100)", "wait 1 s", "HEAD", "PATCH Offset=30 (70)", "wait 1 s",
                "HEAD", "finish",
            ])
    }

    @Test(
        "Each status has its consequence",
        arguments: [
            (404, "POST"), (410, "POST"), (409, "HEAD"), (423, "wait 1 s"), (500, "wait 1 s"), (502, "wait 1 s"),
            (429, "wait 1 s"), (408, "wait 1 s"), (413, "fail"), (412, "fail"), (401, "fail"), (403, "fail"),
            (400, "fail"), (501, "fail"),
        ])
    func statuses(status: Int, consequence: String) async {
        let words = await Run().words([.created, .status(status)])
        #expect(words[2].hasPrefix(consequence), "\(words)")
    }

    @Test("Failures without progress end the upload, an eighth of the content allows as many again")
    func bounded() async {
        var run = Run()
        run.options.maximumFailures = 3
        // The creation is progress; then three failures are allowed each time.
        let cuts = [0, 0, 20, 20, 20, 32, 33, 33, 33].flatMap { [Reply.lost, .has($0)] }
        let words = await run.words([.created] + cuts + [.lost])
        let waits = words.filter { $0.hasPrefix("wait") }
        #expect(waits == [1, 2, 4, 1, 2, 4, 1, 2, 4].map { "wait \($0) s" })
        #expect(words.count { $0.hasPrefix("PATCH") } == 10)
        #expect(words.last?.hasPrefix("fail connection") == true, "\(words)")
    }

    @Test("A lost upload begins anew once, an expired one too")
    func restarts() async throws {
        let lost = try await Run().resumedWords([.status(404), .created, .status(410)])
        #expect(lost == ["HEAD", "POST Length=100", "PATCH Offset=0 (100)", "fail status 410"])
        let expired = try await Run().resumedWords([.created, .has(100)], isExpired: true)
        #expect(expired == ["POST Length=100", "PATCH Offset=0 (100)", "finish"])
        let longer = try await Run().resumedWords([.has(5, of: 101), .created, .has(100)])
        #expect(longer == ["HEAD", "POST Length=100", "PATCH Offset=0 (100)", "finish"])
    }

    @Test("A server that claims bytes that were never sent is not believed")
    func claims() async {
        var run = Run()
        run.options.chunkSize = 10
        #expect(await run.words([.created, .has(11)]).last == "fail badResponse")
        #expect(await run.words([.created, .lost, .has(50)]).last == "fail badResponse")
    }

    @Test(
        "The location is resolved, and never leaves https",
        arguments: [
            ("/up/9", "https://mock.test/up/9"), ("9", "https://mock.test/9"),
            ("https://other.test/9?t=1", "https://other.test/9?t=1"), ("//other.test/9", "https://other.test/9"),
            ("http://mock.test/9", nil), ("ftp://mock.test/9", nil), ("https://u:p@mock.test/9", nil),
            ("\u{0}", nil),
        ])
    func locations(location: String, url: String?) async {
        let trace = await Run().trace([.status(201, [.location: location]), .has(100)])
        #expect(trace.urls.dropFirst() == (url.map { [$0] } ?? []))
        #expect(trace.words.last == (url == nil ? "fail badResponse" : "finish"))
    }

    @Test("Waits double from a second, with jitter, and what a server asks for is capped")
    func pauses() {
        func pause(_ failures: Int, _ asked: Duration? = nil, _ random: Double = 1) -> Duration {
            UploadFailures.pause(after: failures, asked: asked, maximum: .seconds(60), random)
        }
        #expect([1, 2, 3, 6, 7, 1000].map { pause($0) } == [1, 2, 4, 32, 60, 60].map { Duration.seconds($0) })
        #expect(pause(1, nil, 0) == .milliseconds(500) && pause(1, nil, -5) == .milliseconds(500))
        #expect(pause(1, .seconds(7)) == .seconds(7) && pause(1, .seconds(86_400)) == .seconds(60))
    }

    @Test("Generated responses end the upload, never in a trap, and in bounded requests", arguments: 0..<10)
    func fuzz(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var run = Run()
            run.options.chunkSize = 30
            let replies = (0..<200).map { _ in
                let numbers = ["0", "30", "100", "-1", "9999999999999999", "999999999999999", "x", "", "3 0"]
                var headers: HTTPHeaders = [:]
                for name in ["Upload-Offset", "Upload-Length", "Upload-Expires", "Location"]
                where Bool.random(using: &random) {
                    headers[HTTPField.Name(name)] = numbers.randomElement(using: &random) ?? ""
                }
                return [
                    Reply.lost, .status(200, headers),
                    .status([404, 409, 413, 423, 500, 400].randomElement(using: &random) ?? 500, headers),
                ].randomElement(using: &random) ?? .lost
            }
            let words = Bool.random(using: &random) ? try await run.resumedWords(replies) : await run.words(replies)
            #expect(words.last != "fail cancelled", "seed \(seed): \(words)")
        }
    }
}
