// SPDX-License-Identifier: MIT

/// A body in memory or in files, and the function that counts its bytes.
package final class CountedBody: Sendable {
    /// Receives the size of each chunk as the transport takes it, and nil when the last byte has been taken. Calls do
    /// not overlap.
    package typealias Counter = @Sendable (Int?) -> Void

    package let original: RequestBody
    /// Creates a counter. Called once each time that the body is sent.
    package let makeCounter: @Sendable () -> Counter

    init(_ original: RequestBody, _ makeCounter: @escaping @Sendable () -> Counter) {
        self.original = original
        self.makeCounter = makeCounter
    }
}

extension RequestBody {
    /// Returns a body with the same bytes and trailers, which are counted as the transport takes them.
    ///
    /// The result is a stream for everything but a transport that counts by itself while it reads bytes and files: a
    /// stream costs a change of threads for each chunk, which takes a third of the speed of a fast upload.
    ///
    /// - `length`: the exact number of bytes; nil if it is unknown.
    /// - `makeCounter`: creates the function that counts, each time that the body is sent.
    package func counted(
        length: Int64?, by makeCounter: @escaping @Sendable () -> CountedBody.Counter
    ) -> RequestBody {
        var body = changingChunks(length: length) { pull in
            let count = makeCounter()
            return {
                let chunk = try await pull()
                count(chunk?.count)
                return chunk
            }
        }
        switch kind {
        case .parts, .file: body.counted = CountedBody(self, makeCounter)
        case .empty, .stream: break
        }
        return body
    }
}
