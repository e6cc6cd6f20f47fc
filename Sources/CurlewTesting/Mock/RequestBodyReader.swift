// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// Reads a request body as a transport does, and keeps its first bytes.
struct RequestBodyReader {
    /// The first bytes of the body, at most `limit`.
    private(set) var data = Data()
    /// The number of bytes of the complete body.
    private(set) var count: Int64 = 0
    private let limit: Int

    /// Reads `body` to its end. Throws the errors that the body throws, and `CancellationError` as soon as the task is
    /// cancelled.
    init(_ body: RequestBody, limit: Int) async throws {
        self.limit = limit
        for try await chunk in try body.chunks() {
            try Task.checkCancellation()
            append(chunk)
        }
    }

    private mutating func append(_ chunk: Data) {
        count += Int64(chunk.count)
        data.append(chunk.prefix(max(0, limit - data.count)))
    }
}
