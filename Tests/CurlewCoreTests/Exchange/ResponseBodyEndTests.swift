// SPDX-License-Identifier: MIT

import Testing

/// Hearing of the end of a body, whatever it is.
@Suite(.timeLimit(.minutes(1)))
struct ResponseBodyEndTests {
    /// Remembers how a body ended.
    private final class Ends: Sendable {
        private let heard = Locked<[String]>([])
        var all: [String] { heard.withLock { $0 } }

        func watch(_ body: ResponseBody) -> ResponseBody {
            body.onEnd { end in
                let name =
                    switch end {
                    case .complete: "complete"
                    case .failed(let error): "failed \(NetworkError(error).label)"
                    case .dropped: "dropped"
                    }
                self.heard.withLock { $0.append(name) }
            }
        }
    }

    private func stream(_ chunks: [String], then error: NetworkError? = nil) -> ResponseBody {
        ResponseBody(
            AsyncThrowingStream<Data, any Error> { continuation in
                for chunk in chunks { continuation.yield(Data(chunk.utf8)) }
                continuation.finish(throwing: error)
            })
    }

    @Test("Bytes in memory are complete at once, and can still be read")
    func buffered() async throws {
        let ends = Ends()
        let body = ends.watch(ResponseBody(Data("abc".utf8)))
        #expect(ends.all == ["complete"])
        #expect(try await body.collect() == Data("abc".utf8))
        #expect(ends.all == ["complete"])
    }

    @Test("A stream ends when it has been read, and keeps its length and limit")
    func complete() async throws {
        let ends = Ends()
        let body = ends.watch(stream(["ab", "c"]).limited(to: 7))
        #expect(body.limit == 7 && ends.all.isEmpty)
        #expect(try await body.collect() == Data("abc".utf8))
        #expect(ends.all == ["complete"])
    }

    @Test("A stream that breaks off, or is longer than its limit, ends with its error")
    func failing() async throws {
        let ends = Ends()
        let broken = ends.watch(stream(["ab"], then: NetworkError(.connectionLost(.requestMayHaveArrived))))
        await #expect(throws: NetworkError.self) { try await broken.collect() }
        #expect(ends.all == ["failed connectionLost requestMayHaveArrived"])
        let long = ends.watch(stream(["abc"]).limited(to: 2))
        await #expect(throws: NetworkError.self) { try await long.collect() }
        #expect(ends.all.count == 2)
    }

    @Test("A body that is cancelled, or that no reader can read any more, ends as dropped, once")
    func dropped() async throws {
        let ends = Ends()
        let body = ends.watch(stream(["a"]))
        body.cancel()
        body.cancel()
        #expect(ends.all == ["dropped"])
        _ = ends.watch(stream(["a"]))
        #expect(ends.all == ["dropped", "dropped"])
        var iterator: ResponseBody.Iterator? = ends.watch(stream(["a", "b"])).makeAsyncIterator()
        _ = try await iterator?.next()
        #expect(ends.all.count == 2)
        iterator = nil
        #expect(ends.all == ["dropped", "dropped", "dropped"])
    }
}
