// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

    @Test("A stream is made anew each time it is sent, and pulled one chunk at a time")
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
}
