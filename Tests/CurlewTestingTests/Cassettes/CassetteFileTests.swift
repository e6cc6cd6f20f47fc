// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewJSON
import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(5)))
struct CassetteFileTests {
    static let call = Request<String>.get("/a")

    @Test("Of two cassettes that record one file at once, the second one fails, and the file stays as it is")
    func twoRecorders() async throws {
        let folder = try CassetteFolder()
        let mock = MockTransport.answering { .text($0.path) }
        let one = try Cassette(folder.path(), mode: .recordNew, recording: mock)
        let two = try Cassette(folder.path(), mode: .recordNew, recording: mock)
        for (cassette, paths) in [(one, ["/a", "/b"]), (two, ["/c"])] {
            for path in paths {
                _ = try await client(cassette).send(Request<String>.get(url: "https://api.test\(path)"))
            }
        }
        try await one.finish()
        let text = try folder.text()
        let error = await #expect(throws: NetworkError.self) { try await two.finish() }
        #expect(error?.reason == .refused(by: .cassette) && error?.detail.contains(folder.path()) == true)
        #expect(try folder.text() == text && !FileManager.default.fileExists(atPath: folder.path() + ".lock"))
        // The first one may go on, and a later one adds to the file.
        _ = try await client(one).send(Request<String>.get("/d"))
        try await one.save()
        let three = try Cassette(folder.path(), mode: .recordNew, recording: mock)
        _ = try await client(three).send(Request<String>.get("/e"))
        try await three.save()
        #expect(try Cassette(folder.path(), mode: .replay).count == 4)
    }

    @Test("A file is recorded anew by one cassette of a process, also through a symbolic link")
    func anew() async throws {
        let folder = try CassetteFolder()
        let real = folder.url.appendingPathComponent("real")
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        let mock = MockTransport.answering { .text($0.path) }
        let path = real.appendingPathComponent("c.har").path
        let cassette = try Cassette(path, mode: .recordAll, recording: mock)
        _ = try await client(cassette).send(Self.call)
        try await cassette.finish()
        for path in [path, link.appendingPathComponent("c.har").path] {
            let error = #expect(throws: NetworkError.self) {
                try Cassette(path, mode: .recordAll, recording: mock)
            }
            #expect(error?.reason == .refused(by: .cassette))
        }
        #expect(try Cassette(path, mode: .replay).count == 1)
    }

    @Test("The file is the same, in whatever order concurrent calls were recorded")
    func stable() async throws {
        func recorded(_ order: [Int]) async throws -> [String] {
            let folder = try CassetteFolder()
            _ = try await record(folder, .answering { .text($0.path) }) { client in
                for number in order { _ = try await client.send(Request<String>.get("/\(number)")) }
            }
            return try folder.text().split(separator: "\n").map(String.init).filter {
                !["startedDateTime", "\"time\"", "wait", "receive"].contains(where: $0.contains)
            }
        }
        let (one, two) = (try await recorded([3, 1, 2]), try await recorded([2, 3, 1]))
        #expect(one == two)
    }

    @Test("A document of another program is replayed: gzip coding, HTTP/2, Base64, a form in parts, pseudo-fields")
    func foreign() async throws {
        let folder = try CassetteFolder()
        try folder.write(Self.document)
        let cassette = try Cassette(folder.path(), mode: .replay)
        let response = try await client(cassette).send(Request<HTTPResponse>(.get, "/a%7Eb", query: ["q": "1"]))
        #expect(response.version == .http2 && response.status == 200)
        #expect(response.headers[.contentEncoding] == nil && response.headers[.contentLength] == nil)
        #expect(response.headers[values: "x-two"] == ["1", "2"])
        #expect(try await response.text() == "hello")
        let form = Request<HTTPResponse>(.post, "/form", body: .data(Data("b=2&a=1".utf8), type: .form))
        #expect(try await client(cassette).send(form).status == 204)
        let failed = await #expect(throws: NetworkError.self) {
            try await client(cassette).send(Request<HTTPResponse>(.get, "/failed"))
        }
        #expect(failed?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(failed?.detail == "net::ERR_FAILED")
        try cassette.verify()
    }

    static let document = #"""
        {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [
        {"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "cache": {}, "timings": {}, "_priority": "High",
         "request": {"method": "GET", "url": "HTTPS://API.test:443/a~b?q=1#top", "httpVersion": "h2",
           "headers": [{"name": ":authority", "value": "api.test"}]},
         "response": {"status": 200, "httpVersion": "h2", "headers": [{"name": "content-encoding", "value": "gzip"},
           {"name": "content-length", "value": "999"}, {"name": "x-two", "value": "1"}, {"name": "X-Two", "value": "2"}],
           "content": {"size": 5, "mimeType": "text/plain", "text": "aGVsbG8=", "encoding": "base64"}}},
        {"startedDateTime": "2026-01-01T00:00:00Z",
         "request": {"method": "POST", "url": "https://api.test/form",
           "postData": {"mimeType": "application/x-www-form-urlencoded",
             "params": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]}},
         "response": {"status": 204}},
        {"startedDateTime": "2026-01-01T00:00:00Z",
         "request": {"method": "GET", "url": "https://api.test/failed"},
         "response": {"status": 0, "_error": "net::ERR_FAILED"}}
        ]}}
        """#

    @Test("Hostile documents are errors or are replayed, and never end the process")
    func hostile() async throws {
        let folder = try CassetteFolder()
        for seed in UInt64(1)...400 {
            var random = SeededGenerator(seed: seed)
            var bytes = Array(Self.document.utf8)
            switch seed % 4 {
            case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            case 1:
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            case 2:
                let values = [
                    "null", "1e400", "-99999999999999999999", "[]", "{}", "\"\"", "true", "9223372036854775807",
                ]
                let value = values.randomElement(using: &random) ?? "null"
                let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
                if let index = digits.randomElement(using: &random) {
                    bytes.replaceSubrange(index...index, with: value.utf8)
                }
            default:
                let quotes = bytes.indices.filter { bytes[$0] == 0x2C }
                let copy = #", "status": -5, "url": "\u0000://", "headers": [{"name": "a b", "value": "\r\n"}]"#
                if let index = quotes.randomElement(using: &random) { bytes.insert(contentsOf: copy.utf8, at: index) }
            }
            try Data(bytes).write(to: folder.url.appendingPathComponent("h.har"))
            do {
                let cassette = try Cassette(folder.path("h.har"), mode: .replay)
                for call in ["/a~b?q=1", "/failed", "/form"] {
                    _ = try? await client(cassette).send(Request<HTTPResponse>(.get, url: "https://api.test\(call)"))
                }
                _ = (cassette.unused, cassette.problems)
            } catch {
                #expect([.decoding, .storage].contains(error.reason), "seed \(seed): \(error)")
            }
        }
        print("hostile documents: seeds 1 to 400")
    }

    @Test("The size of a file is limited")
    func limits() async throws {
        let folder = try CassetteFolder()
        let entry =
            #"{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET","url":"https://a.test/"},"response":{"status":204}}"#
        try folder.write(#"{"log":{"entries":[\#(Array(repeating: entry, count: 20_001).joined(separator: ","))]}}"#)
        var options = Cassette.Options()
        options.maximumFileBytes = 1000
        let large = #expect(throws: NetworkError.self) { try Cassette(folder.path(), mode: .replay, options: options) }
        #expect(large?.reason == .storage)
        #expect(try Cassette(folder.path(), mode: .replay).count == 20_001)
        let folderItself = #expect(throws: NetworkError.self) { try Cassette(folder.url.path, mode: .replay) }
        #expect(folderItself?.reason == .storage)
    }

    @Test("A file that no cassette could read is not written, and the previous one stays")
    func savedLimits() async throws {
        let folder = try CassetteFolder()
        let mock = MockTransport.answering { call in .text(String(repeating: call.path, count: 300)) }
        let path = try await record(folder, mock) { _ = try await $0.send(Request<String>.get("/1")) }
        let before = try folder.text()
        var options = Cassette.Options()
        options.maximumFileBytes = 3000
        let cassette = try Cassette(path, mode: .recordNew, recording: mock, options: options)
        for number in 2...6 {
            _ = try await client(cassette).send(Request<String>(.get, RequestPath("/\(number)")))
        }
        let error = await #expect(throws: NetworkError.self) { try await cassette.save() }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(try folder.text() == before)
    }

    @Test("An exchange takes as long in a cassette of a thousand entries as in one of a hundred")
    func speed() async throws {
        let (long, short) = (try await timeOfHundred(inFileOf: 1000), try await timeOfHundred(inFileOf: 100))
        print("100 exchanges replayed in \(short), and beside 900 others in \(long)")
        #expect(long < short * 4, "an index, not a scan")
    }

    /// Returns the shortest of five times of a hundred exchanges at the end of a cassette with `count` entries.
    private func timeOfHundred(inFileOf count: Int) async throws -> Duration {
        let folder = try CassetteFolder()
        let filler = String(repeating: "lorem ipsum ", count: 60)
        let path = try await record(
            folder, .answering { .json(text: #"{"path": "\#($0.path)", "text": "\#(filler)"}"#) }
        ) {
            for number in 0..<count { _ = try await $0.send(Self.item(number)) }
        }
        var best = Duration.seconds(100)
        for _ in 0..<5 {
            let client = client(try Cassette(path, mode: .replay))
            let start = SystemTime().now
            for number in (count - 100)..<count { _ = try await client.send(Self.item(number)) }
            best = min(best, start.duration(to: SystemTime().now))
        }
        return best
    }

    private static func item(_ number: Int) -> Request<JSONValue> {
        .get("/items/\(number)", query: ["n": "\(number)"])
    }
}
