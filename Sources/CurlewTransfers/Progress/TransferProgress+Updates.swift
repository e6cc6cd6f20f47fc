// SPDX-License-Identifier: MIT

extension TransferProgress {
    /// The values of one transfer as an asynchronous sequence, for a task that shows them.
    ///
    ///     let updates = TransferProgress.Updates()
    ///     async let saved = client.download(.export, to: path, progress: updates.handler)
    ///     for await progress in updates { bar.show(progress) }
    ///     _ = try await saved
    ///
    /// A slow reader misses values and always receives the newest one, so memory is bounded. The sequence ends after
    /// the last value of the transfer. Iterate over it once, in one task.
    public struct Updates: AsyncSequence, Sendable {
        private let stream: AsyncStream<TransferProgress>
        /// The handler to pass to the transfer. Use it for one transfer.
        public let handler: Handler

        /// Creates a sequence that waits for a transfer.
        public init() {
            let (stream, source) = AsyncStream.makeStream(
                of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
            self.stream = stream
            handler = { value in
                source.yield(value)
                if value.isLast { source.finish() }
            }
        }

        /// Returns an iterator over the values to come.
        public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
            stream.makeAsyncIterator()
        }
    }
}
