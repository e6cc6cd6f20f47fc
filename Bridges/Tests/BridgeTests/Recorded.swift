// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Synchronization

/// Values in the order in which threads added them.
final class Recorded<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])

    var values: [Value] { state.withLock { $0 } }

    func append(_ value: Value) { state.withLock { $0.append(value) } }
}

/// Chunks that are made when they are requested, and counted.
struct CountedChunks<Chunk: Sendable>: AsyncSequence, Sendable {
    let count: Int
    let made = Recorded<Int>()
    let make: @Sendable (Int) throws -> Chunk

    struct Iterator: AsyncIteratorProtocol {
        let chunks: CountedChunks
        var index = 0

        mutating func next() async throws -> Chunk? {
            guard index < chunks.count else { return nil }
            defer { index += 1 }
            chunks.made.append(index)
            return try chunks.make(index)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }
}

/// A gate that stays closed until it is opened.
final class Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func pass() async { for await _ in stream {} }
}

extension APIClient.Configuration {
    /// A configuration with a clock whose waits end at once.
    static var withoutWaits: APIClient.Configuration { APIClient.Configuration(time: ManualClock.skippingWaits) }
}
