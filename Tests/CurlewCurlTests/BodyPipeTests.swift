// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// What passes between the transport's thread and a reader, without a transport.
@Suite(.timeLimit(.minutes(1)))
struct BodyPipeTests {
    private func pipe(capacity: Int = 100) throws -> BodyPipe {
        let transfer = Transfer(
            request: try HTTPRequest(url: "http://127.0.0.1/"), context: ExchangeContext(), upload: nil,
            owner: CurlTransport())
        let loop = EventLoop()
        transfer.loop = loop
        return BodyPipe(transfer, first: GatheredBody(), capacity: capacity, memory: loop.memory)
    }

    private func offer(_ text: String, to pipe: BodyPipe) -> String {
        text.utf8.withContiguousStorageIfAvailable { "\(pipe.offer(UnsafeRawBufferPointer($0)))" } ?? "none"
    }

    @Test("A reader gets the received bytes joined, and the end after them")
    func order() async throws {
        let pipe = try pipe()
        #expect(offer("ab", to: pipe) == "wait" && offer("c", to: pipe) == "wait")
        pipe.finish(.success(()))
        #expect(try await pipe.next() == Data("abc".utf8))
        #expect(try await pipe.next() == nil)
    }

    @Test("Beyond its capacity the pipe accepts nothing until a reader has read")
    func capacity() async throws {
        let pipe = try pipe(capacity: 3)
        #expect(offer("abcd", to: pipe) == "wait" && offer("e", to: pipe) == "pause")
        #expect(try await pipe.next() == Data("abcd".utf8))
        #expect(offer("e", to: pipe) == "wait")
    }

    @Test("Bytes after the end are not for a reader: bytes before it may have been dropped")
    func late() async throws {
        let cancelled = try pipe()
        #expect(offer("abc", to: cancelled) == "wait")
        cancelled.cancel()
        // The transport continues until it is notified.
        #expect(offer("def", to: cancelled) == "late")
        #expect(await failureReason { try await cancelled.next() } == .cancelled)
        let stalled = try pipe()
        #expect(offer("abc", to: stalled) == "wait")
        stalled.finish(.failure(NetworkError(.timedOut(.idle))))
        #expect(offer("def", to: stalled) == "late")
        #expect(try await stalled.next() == Data("abc".utf8))
        await #expect(throws: NetworkError.self) { try await stalled.next() }
    }

    @Test("A body that is dropped after all of it has arrived fails where it is read")
    func givenUpAtTheEnd() async throws {
        let pipe = try pipe()
        #expect(offer("abc", to: pipe) == "wait")
        pipe.finish(.success(()))
        pipe.cancel()
        #expect(await failureReason { try await pipe.next() } == .cancelled)
        // What was read to its end stays complete.
        let read = try self.pipe()
        read.finish(.success(()), trailers: ["X-Sum": "1"])
        #expect(try await read.next() == nil)
        read.cancel()
        #expect(try await read.next() == nil && read.trailers["X-Sum"] == "1")
    }
}
