// SPDX-License-Identifier: MIT

package import CurlewFoundation
package import CurlewHTTP

/// The interface through which a transport provides the bytes of a body. One task at a time calls `next` and `drain`.
package protocol ResponseBodySource: AnyObject, Sendable {
    /// Waits for the next chunk; returns nil at the end. Cancelling the task ends the wait immediately.
    func next() async throws -> Data?
    /// Writes the rest of the body to `sink` and returns at the end. Cancelling the task ends the wait immediately.
    func drain(into sink: any BodySink) async throws
    /// Ends the transfer. May be called at any time, including after the end of the body.
    func cancel()
    /// The trailer fields; empty before the end of the body. May be read at any time, on any thread.
    var trailers: HTTPHeaders { get }
}

extension ResponseBodySource {
    package var trailers: HTTPHeaders { [:] }

    package func drain(into sink: any BodySink) async throws {
        while let chunk = try await next() { try sink.write(chunk) }
    }
}

/// A receiver of the bytes of a body. The calls come in order and one at a time, on the thread on which the bytes
/// arrive, which may be any thread.
///
/// A sink must keep alive all objects that it uses: when draining ends early, a call may still be running.
package protocol BodySink: AnyObject, Sendable {
    /// Receives the next bytes, which are valid only during the call. Throwing an error ends the transfer.
    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError)
}

extension BodySink {
    package func write(_ data: Data) throws(NetworkError) {
        try data.withUnsafeBytes { bytes in Result { () throws(NetworkError) in try write(bytes) } }.get()
    }
}

extension ResponseBody {
    /// Reads the complete body and writes it to `sink`. Throws if the body has already been read, and rethrows an error
    /// that occurs while reading the body or that the sink throws.
    package func drain(into sink: any BodySink) async throws {
        do {
            switch storage.content {
            case .source(let source):
                try storage.claim()
                try await source.drain(into: limit == .max ? sink : BoundedSink(sink, limit: limit))
            case .watched(let body, let ending):
                try storage.claim()
                try await ending.reporting { try await body.drain(into: sink) }
            case .buffered, .sequence, .value:
                var chunks = makeAsyncIterator()
                while let chunk = try await chunks.next() { try sink.write(chunk) }
            }
        } catch {
            storage.cancel()
            throw error
        }
    }
}

/// A sink that forwards bytes to another sink, and throws beyond the limit of the body.
private final class BoundedSink: BodySink {
    private let base: any BodySink
    private let limit: Int64
    private let count = Locked<Int64>(0)

    init(_ base: any BodySink, limit: Int64) {
        self.base = base
        self.limit = limit
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        let sum = count.withLock { count in
            count += Int64(bytes.count)
            return count
        }
        guard sum <= limit else { throw ResponseBody.Storage.overLimit(limit) }
        try base.write(bytes)
    }
}

package enum ResponseBodyEnd: Sendable {
    case complete
    case failed(any Error)
    /// The body was cancelled, or its last copy was released.
    case dropped
}

/// A callback that runs once: when `run` is called, or with `.dropped` when the last reference is released.
final class OnceCallback: Sendable {
    private let end: Locked<(@Sendable (ResponseBodyEnd) -> Void)?>

    init(_ end: @escaping @Sendable (ResponseBodyEnd) -> Void) {
        self.end = Locked(end)
    }

    func run(_ how: ResponseBodyEnd) {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?(how)
    }

    /// Returns a function that returns the chunks of `next`, and runs the callback at their end.
    func watching(_ next: @escaping ChunkPull) -> ChunkPull {
        { [self] in
            do {
                let chunk = try await next()
                if chunk == nil { run(.complete) }
                return chunk
            } catch {
                run(.failed(error))
                throw error
            }
        }
    }

    /// Calls `drain`, which reads the complete body, and then runs the callback.
    func reporting(_ drain: () async throws -> Void) async throws {
        do {
            try await drain()
            run(.complete)
        } catch {
            run(.failed(error))
            throw error
        }
    }

    deinit { run(.dropped) }
}
