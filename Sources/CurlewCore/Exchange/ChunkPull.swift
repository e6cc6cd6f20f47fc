// SPDX-License-Identifier: MIT

package import CurlewFoundation

/// A function that returns the next chunk on each call, and nil at the end. Called by one task at a time.
package typealias ChunkPull = () async throws -> Data?

/// Returns a function that returns the chunks of `base`, one per call.
func pull<Base: AsyncSequence>(from base: Base) -> ChunkPull where Base.Element == Data {
    // The function owns the iterator and, by contract, runs in one task at a time. The checked alternative,
    // `next(isolation:)`, requires newer Apple systems than the package's minimum.
    nonisolated(unsafe) var iterator = base.makeAsyncIterator()
    return { try await iterator.next() }
}
