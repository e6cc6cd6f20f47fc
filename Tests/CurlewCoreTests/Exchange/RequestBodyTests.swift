// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RequestBodyTests {
    static let chunks: @Sendable () -> RequestBody.Chunks = {
        RequestBody.Chunks(AsyncStream<Data> { $0.finish() })
    }

    @Test("A body knows its length and whether it can be sent again")
    func facts() {
        let range = RequestBody.Part.file(path: "/etc/hosts", offset: 2, length: 40)
        let table: [(RequestBody, length: Int64?, canReplay: Bool, isEmpty: Bool, description: String)] = [
            (.empty, 0, true, true, "empty"),
            (.bytes(Data("abc".utf8)), 3, true, false, "3 bytes"),
            (.bytes(Data()), 0, true, false, "0 bytes"),
            (.parts([.bytes(Data("ab".utf8)), range]), 42, true, false, "42 bytes"),
            (.file("/etc/hosts"), nil, true, false, "file /etc/hosts"),
            (.stream(make: Self.chunks), nil, false, false, "stream"),
            (.stream(length: 7, replay: .always, make: Self.chunks), 7, true, false, "stream of 7 bytes"),
        ]
        for (body, length, canReplay, isEmpty, description) in table {
            #expect(body.length == length, "\(body)")
            #expect(body.canReplay == canReplay, "\(body)")
            #expect(body.isEmpty == isEmpty, "\(body)")
            #expect("\(body)" == description)
        }
    }

    @Test("Bytes are at hand only if all of them are in memory")
    func data() {
        let file = RequestBody.Part.file(path: "/etc/hosts", offset: 0, length: 1)
        #expect(RequestBody.empty.data == Data())
        #expect(RequestBody.bytes(Data("abc".utf8)).data == Data("abc".utf8))
        #expect(RequestBody.parts([.bytes(Data("a".utf8)), .bytes(Data("b".utf8))]).data == Data("ab".utf8))
        #expect(RequestBody.parts([.bytes(Data("a".utf8)), file]).data == nil)
        #expect(RequestBody.file("/etc/hosts").data == nil)
        #expect(RequestBody.stream(make: Self.chunks).data == nil)
    }

    @Test("A stream is made again each time it is sent, and pulled one chunk at a time")
    func stream() async throws {
        let made = Locked(0)
        let source = ChunkSource(["a", "b"])
        let body = RequestBody.stream(replay: .always) {
            made.withLock { $0 += 1 }
            return RequestBody.Chunks(ResponseBody(source, limit: 9, length: nil))
        }
        guard case .stream(_, _, let make) = body.kind else {
            Issue.record("not a stream")
            return
        }
        let next = try make().makeNext()
        #expect(source.pulls == 0)
        #expect(try await next() == Data("a".utf8))
        #expect(source.pulls == 1)
        _ = try make()
        #expect(made.withLock { $0 } == 2)
    }

    private static func bytes(of body: RequestBody) async throws -> Data {
        try await body.chunks().reduce(into: Data()) { $0.append($1) }
    }

    @Test("A custom transport reads every kind of body, as often as it can be replayed")
    func chunksOfEveryKind() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        let text = Data(String(repeating: "0123456789", count: 20_000).utf8)
        try text.write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let range = RequestBody.Part.file(path: path, offset: 5, length: 70_000)
        let table: [(RequestBody, Data)] = [
            (.empty, Data()),
            (.bytes(Data("abc".utf8)), Data("abc".utf8)),
            (.file(path), text),
            (.parts([.bytes(Data("a".utf8)), range]), Data("a".utf8) + text[5..<70_005]),
            (.stream(length: 2, replay: .always) { .init(ResponseBody(Data("ab".utf8))) }, Data("ab".utf8)),
        ]
        for (body, expected) in table {
            #expect(try await Self.bytes(of: body) == expected, "\(body)")
            #expect(try await Self.bytes(of: body) == expected, "\(body)")
        }
    }

    @Test("Bytes that are missing, or fewer or more than declared, are an error")
    func chunksThatFail() async throws {
        let short = RequestBody.Part.file(path: "/etc/hosts", offset: 1 << 30, length: 4)
        let table: [(RequestBody, NetworkError.Reason)] = [
            (.file("/no/such/file"), .invalidRequest),
            (.parts([short]), .encoding),
            (.stream(length: 3) { .init(ResponseBody(Data("ab".utf8))) }, .encoding),
            (.stream(length: 1) { .init(ResponseBody(Data("ab".utf8))) }, .encoding),
            (.stream { throw CancellationError() }, .encoding),
        ]
        for (body, reason) in table {
            let error = await #expect(throws: NetworkError.self) { try await Self.bytes(of: body) }
            #expect(error?.reason == reason, "\(body)")
        }
    }
}
