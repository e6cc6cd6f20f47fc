// SPDX-License-Identifier: MIT

import CurlewTransfers
import TestServers
import Testing

/// Forms whose parts are encoded values, streams, and other than fields.
@Suite(.timeLimit(.minutes(1)))
struct MultipartBodyTests {
    struct Film: Encodable {
        let releaseYear: Int
    }

    struct Broken: Error {}

    static func bytes(_ body: RequestBody) async throws -> Data {
        var all = Data()
        for try await chunk in try body.chunks() { all.append(chunk) }
        return all
    }

    static func text(_ body: RequestBody) async throws -> String {
        String(decoding: try await bytes(body), as: UTF8.self)
    }

    static func chunks(_ texts: String..., error: (any Error)? = nil) -> RequestBody.Chunks {
        RequestBody.Chunks(
            AsyncThrowingStream { continuation in
                for text in texts { continuation.yield(Data(text.utf8)) }
                continuation.finish(throwing: error)
            })
    }

    @Test("A value is encoded by the client's codec, when the call is sent")
    func values() async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let transport = RecordingTransport()
        let client = APIClient.testing(transport, configuration: .init(codecs: Codecs(encoder: encoder)))
        let form = MultipartForm([.part("film", .json(Film(releaseYear: 1922)))], boundary: "B")
        try await client.send(Request<Void>.post("/films", body: .multipart(form)))
        let request = try #require(transport.requests.first)
        #expect(request.headers[.contentType] == "multipart/form-data; boundary=B")
        #expect(
            try await Self.text(request.body) == """
                --B\r
                Content-Disposition: form-data; name="film"\r
                Content-Type: application/json\r
                \r
                {"release_year":1922}\r
                --B--\r

                """)
        let missing = MultipartForm([.part("film", .encoded(Film(releaseYear: 1), as: .xml))])
        let error = await client.failure(Request<Void>.post("/films", body: .multipart(missing)))
        #expect(error?.reason == .configuration)
    }

    @Test("Streams are sent in their place, with a length if all lengths are known")
    func streams() async throws {
        func form(_ length: Int64?) -> MultipartForm {
            let log = RequestContent.stream(length: length, replay: .always, type: .text) {
                Self.chunks("ab", "", "cde")
            }
            return MultipartForm(
                [.field("a", "1"), .part("log", log, fileName: "x.log"), .part("none", .none), .field("b", "2")],
                boundary: "B")
        }
        let known = try form(5).body()
        let unknown = try form(nil).body()
        let text = try await Self.text(known)
        #expect(
            text == """
                --B\r
                Content-Disposition: form-data; name="a"\r
                \r
                1\r
                --B\r
                Content-Disposition: form-data; name="log"; filename="x.log"\r
                Content-Type: text/plain; charset=utf-8\r
                \r
                abcde\r
                --B\r
                Content-Disposition: form-data; name="none"\r
                \r
                \r
                --B\r
                Content-Disposition: form-data; name="b"\r
                \r
                2\r
                --B--\r

                """)
        #expect(known.length == Int64(text.utf8.count))
        #expect(unknown.length == nil)
        for body in [known, unknown] {
            #expect(body.canReplay)
            for _ in 0..<2 { #expect(try await Self.text(body) == text) }
        }
    }

    @Test("A body can be sent again only if every part can", arguments: [(0, true), (1, false), (2, false)])
    func replay(never: Int, canReplay: Bool) throws {
        let parts = (1...2).map { number in
            MultipartForm.Part.part(
                "p", .stream(replay: number <= never ? .never : .always) { Self.chunks("x") })
        }
        #expect(try MultipartForm(parts).body().canReplay == canReplay)
    }

    @Test("A stream is created when its turn comes, once for each time that the body is sent")
    func turns() async throws {
        let made = Locked(0)
        let content = RequestContent.stream(length: 1, replay: .always) {
            made.withLock { $0 += 1 }
            return Self.chunks("x")
        }
        let body = try MultipartForm([.field("a", "1"), .part("s", content)]).body()
        for pass in 1...2 {
            var chunks = try body.chunks().makeAsyncIterator()
            let first = try #require(try await chunks.next())
            #expect(String(decoding: first, as: UTF8.self).contains("name=\"s\""))
            #expect(made.withLock { $0 } == pass - 1)
            while try await chunks.next() != nil {}
            #expect(made.withLock { $0 } == pass)
        }
    }

    @Test("Two bodies of one form are read at the same time")
    func concurrency() async throws {
        let form = MultipartForm([.field("a", "1"), .part("s", .stream(replay: .always) { Self.chunks("x", "y") })])
        let body = try form.body()
        async let left = Self.bytes(body)
        async let right = Self.bytes(body)
        let (one, two) = try await (left, right)
        #expect(one == two)
    }

    @Test("A stream with other than its declared length is an error", arguments: [3, 7] as [Int64])
    func wrongLength(length: Int64) async throws {
        let form = MultipartForm([.part("s", .stream(length: length) { Self.chunks("abcde") }), .field("a", "1")])
        #expect(await failureReason { try await Self.bytes(form.body()) } == .encoding)
    }

    @Test("The error of a stream is the error of the body")
    func brokenStream() async throws {
        let form = MultipartForm([.part("s", .stream { Self.chunks("abcde", error: Broken()) })])
        await #expect(throws: Broken.self) { try await Self.bytes(form.body()) }
    }

    @Test("Content that no part can have is refused before anything is sent")
    func refusals() throws {
        let long = RequestContent.stream(length: .max) { Self.chunks() }
        var forged = MultipartForm.Part.field("a", "1")
        forged.headers = ["X": "1\r\nY: 2"]
        for parts in [
            [.part("s", .stream { Self.chunks() }.trailing("X-Sum") { [:] })],
            [.part("s", .stream(length: -1) { Self.chunks() })], [.part("s", long), .part("s", long)],
            [forged], [.part("f", .file("/no/such/file"))],
        ] as [[MultipartForm.Part]] {
            let error = #expect(throws: NetworkError.self) { try MultipartForm(parts).body() }
            #expect(error?.reason == .invalidRequest, "\(parts)")
        }
    }

    @Test("Fields of a part follow its own, and replace them")
    func fields() async throws {
        var field = MultipartForm.Part.field("a", "1")
        field.headers = ["X-Number": "1", .contentType: "text/html"]
        let form = MultipartForm(
            [field, .part("b", .text("2", type: .html), headers: [.contentDisposition: "form-data; name=c"])],
            boundary: "B")
        #expect(
            try await Self.text(form.body()) == """
                --B\r
                Content-Disposition: form-data; name="a"\r
                X-Number: 1\r
                Content-Type: text/html\r
                \r
                1\r
                --B\r
                Content-Type: text/html\r
                Content-Disposition: form-data; name=c\r
                \r
                2\r
                --B--\r

                """)
    }

    @Test("Other subtypes have no names, and files are attachments")
    func subtypes() async throws {
        let parts: [MultipartForm.Part] = [
            .part("meta", .json(["id": 1])), .data("file", Data("x".utf8), fileName: "a b.png"),
            .data("file", Data("y".utf8), fileName: "süß\"\\.txt"),
        ]
        let related = MultipartForm(parts, subtype: .related, boundary: "B")
        #expect(related.mediaType.description == "multipart/related; boundary=B; type=\"application/json\"")
        #expect(MultipartForm([], subtype: .related, boundary: "B").mediaType.parameters.count == 1)
        let mixed = MultipartForm(parts, subtype: .mixed, boundary: "B")
        #expect(mixed.mediaType.description == "multipart/mixed; boundary=B")
        let text = try await Self.text(mixed.body())
        #expect(try await Self.text(related.body()) == text)
        #expect(
            text == """
                --B\r
                Content-Type: application/json\r
                \r
                {"id":1}\r
                --B\r
                Content-Disposition: attachment; filename="a b.png"\r
                Content-Type: image/png\r
                \r
                x\r
                --B\r
                Content-Disposition: attachment; filename*=UTF-8''s%C3%BC%C3%9F%22%5C.txt\r
                Content-Type: text/plain\r
                \r
                y\r
                --B--\r

                """)
    }

    @Test(
        "A boundary that occurs in a part in memory is refused",
        arguments: [("--B", false), ("x\r\n--B--", false), ("x--B", true), ("\n--B", true), ("\r\n--b", true)])
    func collisions(content: String, isFine: Bool) throws {
        for size in [0, 100_000] {
            let data = Data(content.utf8) + Data(repeating: 0x2E, count: size)
            let form = MultipartForm([.data("a", data)], boundary: "B")
            if isFine {
                #expect(throws: Never.self) { try form.body() }
            } else {
                #expect(thrownReason { try form.body() } == .invalidRequest)
            }
        }
    }

    @Test("Progress of one part is that part's alone")
    func progress() async throws {
        let last = Locked<Int64>(0)
        let content = RequestContent.data(Data("12345".utf8)).reporting { progress in
            last.withLock { $0 = progress.completed }
        }
        let body = try MultipartForm([.field("a", "1"), .part("b", content)]).body()
        #expect(try await Int64(Self.bytes(body).count) == body.length)
        #expect(last.withLock { $0 } == 5)
    }

    @Test("Large content in memory is not copied, and an empty form is a body")
    func pieces() async throws {
        let data = Data(repeating: 1, count: 100_000)
        guard case .parts(let parts) = try MultipartForm([.data("a", data)]).body().kind,
            case .bytes(let sent) = parts[1]
        else {
            Issue.record("other pieces")
            return
        }
        #expect(parts.count == 3)
        #expect(sent.withUnsafeBytes { left in data.withUnsafeBytes { left.baseAddress == $0.baseAddress } })
        #expect(try await Self.text(MultipartForm([], boundary: "B").body()) == "--B--\r\n")
    }

    @Test("A large file is sent in chunks of 64 KiB")
    func chunks() async throws {
        let size = Int64(64 << 20)
        let folder = try TemporaryFolder()
        let path = try folder.file("large.bin", "")
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: UInt64(size))
        try file.close()

        let stream = RequestContent.stream(length: 5, replay: .always) {
            RequestBody.Chunks(
                AsyncStream {
                    $0.yield(Data("hello".utf8)); $0.finish()
                })
        }
        let body = try MultipartForm([.field("a", "1"), .part("s", stream), .file("large", path: path)]).body()
        var chunks = try body.chunks().makeAsyncIterator()
        var count = Int64(0)
        while let chunk = try await chunks.next() {
            #expect(chunk.count <= 64 << 10)
            count += Int64(chunk.count)
        }
        #expect(count == body.length)
        #expect(count > size)
    }
}
