// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A body that throws `.timedOut` at the deadline of the call that reads it. A shared exchange has no deadline, so the
/// transport does not enforce it.
final class TimedBody: ResponseBodySource {
    private let body: ResponseBody
    private let deadline: SystemTime.Deadline
    private let phase: NetworkError.Phase
    private let time: any TimeSource
    private let reader: Reader

    init(
        _ body: ResponseBody, until deadline: SystemTime.Deadline, _ phase: NetworkError.Phase,
        on time: any TimeSource
    ) {
        self.body = body
        self.deadline = deadline
        self.phase = phase
        self.time = time
        reader = Reader(body)
    }

    func next() async throws -> Data? {
        do {
            return try await bounded(until: deadline, on: time) { [reader] in try await reader.next() }
        } catch is DeadlinePassed {
            body.cancel()
            throw NetworkError(.timedOut(phase), detail: "The call timed out before its body was complete.")
        } catch is CancellationError {
            body.cancel()
            throw NetworkError(.cancelled)
        }
    }

    func cancel() { body.cancel() }

    var trailers: HTTPHeaders { body.trailers }

    /// Reads the body. A read may continue for a while after the call that waits for it has timed out.
    private actor Reader {
        private var chunks: ResponseBody.Iterator

        init(_ body: ResponseBody) { chunks = body.makeAsyncIterator() }

        func next() async throws -> Data? {
            var chunks = chunks
            let chunk = try await chunks.next()
            self.chunks = chunks
            return chunk
        }
    }
}
