// SPDX-License-Identifier: MIT

extension ResponseBody {
    /// The body as a sequence of single bytes, which can be read once:
    ///
    ///     for try await byte in response.body.bytes { checksum.add(byte) }
    ///
    /// The reader waits only for the first byte of each chunk. The limit of the body, the errors and cancellation are
    /// those of the body itself.
    public var bytes: Bytes { Bytes(self) }

    /// The bytes of a body one after the other.
    public struct Bytes: AsyncSequence, Sendable {
        private let body: ResponseBody

        init(_ body: ResponseBody) {
            self.body = body
        }

        /// Creates the iterator. If the body has already been read, the first call of `next` throws.
        public func makeAsyncIterator() -> Iterator {
            Iterator(body.makeAsyncIterator())
        }

        /// Returns the bytes in order. Two tasks must not use it concurrently.
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
}
