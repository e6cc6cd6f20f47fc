// SPDX-License-Identifier: MIT

package import CurlewFoundation

/// An asynchronous sequence of prepared chunks. It optionally ends with an error. `init(_:by:)` also adds an empty
/// chunk.
package struct Produced: AsyncSequence, Sendable {
    private let chunks: [Data]
    private let failure: (any Error)?

    package init(_ chunks: [Data], then failure: (any Error)? = nil) {
        self.chunks = chunks
        self.failure = failure
    }

    package init(_ bytes: Data, by count: Int) {
        var chunks = stride(from: 0, to: bytes.count, by: count).map { bytes[$0..<Swift.min($0 + count, bytes.count)] }
        chunks.insert(Data(), at: chunks.count / 2)
        self.init(chunks)
    }

    package func makeAsyncIterator() -> Iterator { Iterator(rest: chunks[...], failure: failure) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<Data>
        fileprivate let failure: (any Error)?

        package mutating func next() async throws -> Data? {
            if let chunk = rest.popFirst() { return chunk }
            if let failure { throw failure }
            return nil
        }
    }
}
