// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

extension ResponseBody {
    /// The body as a sequence of single bytes, which can be read once:
    ///
    ///     for try await byte in response.body.bytes { checksum.add(byte) }
    ///
    /// The reader waits only for the first byte of each chunk. The limit of the body, the errors and cancellation are
    /// those of the body itself.
    public var bytes: Bytes { Bytes(body: self) }

    /// The bytes of a body one after the other.
    public struct Bytes: AsyncSequence, Sendable {
        fileprivate let body: ResponseBody

        /// Creates the iterator. If the body has already been read, the first call of `next` throws `.invalidRequest`.
        public func makeAsyncIterator() -> Iterator {
            Iterator(body.makeAsyncIterator())
        }

        /// An iterator over the bytes, in order. Two tasks must not use it concurrently.
        public struct Iterator: AsyncIteratorProtocol {
            private var chunks: ResponseBody.Iterator
            /// A copy of the current chunk: unlike `Data`, an array is read without a call for each byte.
            @usableFromInline var chunk: [UInt8] = []
            @usableFromInline var position = 0

            init(_ chunks: ResponseBody.Iterator) {
                self.chunks = chunks
            }

            /// Returns the next byte, or nil at the end of the body. Throws as the iterator of the body does, and
            /// returns nil afterwards.
            @inlinable
            public mutating func next() async throws -> UInt8? {
                if let byte = nextAtHand() { return byte }
                return try await receive()
            }

            /// Returns the next byte, or nil at the end of the body, on the actor of the caller. A loop calls this
            /// method where the system has it.
            @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
                if let byte = nextAtHand() { return byte }
                return try await receive()
            }

            @inlinable
            mutating func nextAtHand() -> UInt8? {
                guard position < chunk.count else { return nil }
                defer { position += 1 }
                return chunk[position]
            }

            @usableFromInline
            mutating func receive() async throws -> UInt8? {
                position = 0
                chunk = []
                while chunk.isEmpty {
                    guard let next = try await chunks.next() else { return nil }
                    chunk = [UInt8](next)
                }
                return nextAtHand()
            }
        }
    }

    /// The body as a sequence of lines, which can be read once:
    ///
    ///     for try await line in response.body.lines { print(line) }
    ///
    /// - A line ends with LF or CR LF, which it does not contain. The last line may end with the body. A CR alone does
    ///   not end a line.
    /// - The text is UTF-8; invalid bytes become U+FFFD. A byte order mark at the beginning is skipped.
    /// - A line of more than 1 MiB throws `.limitExceeded(.responseBody)`; see `lines(upTo:)`.
    /// - At most one chunk and one line are in memory. The limit of the body, the errors and cancellation are those of
    ///   the body itself.
    public var lines: Lines { lines(upTo: 1 << 20) }

    /// Returns the lines of the body, with another limit for the size of a line.
    ///
    /// - `maximum`: the maximum size of a line in bytes, without its LF.
    public func lines(upTo maximum: Int) -> Lines {
        Lines(body: self, limit: maximum)
    }

    /// The lines of a body.
    public struct Lines: AsyncSequence, Sendable {
        fileprivate let body: ResponseBody
        fileprivate let limit: Int

        /// Creates the iterator. If the body has already been read, the first call of `next` throws `.invalidRequest`.
        public func makeAsyncIterator() -> Iterator {
            Iterator(body, limit: limit)
        }

        /// An iterator over the lines, in order. Two tasks must not use it concurrently.
        public struct Iterator: AsyncIteratorProtocol {
            private let body: ResponseBody
            private var chunks: ResponseBody.Iterator
            private var splitter: LineSplitter
            private var isFinished = false

            init(_ body: ResponseBody, limit: Int) {
                self.body = body
                chunks = body.makeAsyncIterator()
                splitter = LineSplitter(limit: limit)
            }

            /// Returns the next line, or nil at the end of the body. Throws `.limitExceeded(.responseBody)` for a line
            /// that is too long, otherwise as the iterator of the body does. Returns nil after an error.
            public mutating func next() async throws -> String? {
                guard !isFinished else { return nil }
                do {
                    while true {
                        if let line = try splitter.next() { return text(line) }
                        guard let chunk = try await chunks.next() else { break }
                        splitter.push(chunk)
                    }
                    isFinished = true
                    return try splitter.finish().map { text($0) }
                } catch {
                    isFinished = true
                    body.cancel()
                    guard let failure = error as? LineSplitter.Failure else { throw error }
                    throw NetworkError(
                        .limitExceeded(.responseBody),
                        detail: "Line \(failure.number) of the response has more than \(failure.limit) bytes.",
                        hint: "Raise the limit with lines(upTo:).")
                }
            }

            private func text(_ line: Data) -> String {
                var line = line
                if line.last == 0x0D { line = line.dropLast() }
                if splitter.count == 1 { line = line.withoutByteOrderMark }
                return String(decoding: line, as: UTF8.self)
            }
        }
    }
}
