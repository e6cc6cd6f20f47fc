// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A function that gives the next chunk each time it is called, and nil at the end. Called by one task at a time.
package typealias ChunkPull = () async throws -> Data?

/// The chunks of `base`, one for each call.
func pull<Base: AsyncSequence>(from base: Base) -> ChunkPull where Base.Element == Data {
    // The function owns the iterator and, by contract, runs in one task at a time. The checked form of this,
    // `next(isolation:)`, needs newer Apple systems than the package's minimum.
    nonisolated(unsafe) var iterator = base.makeAsyncIterator()
    return { try await iterator.next() }
}
