// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of a transport: gives its chunks, then ends, or waits for ever until it is cancelled.
final class ChunkSource: ResponseBodySource {
    private let state: Locked<(chunks: [Data], wasCancelled: Bool)>
    private let waitsAtEnd: Bool

    init(_ chunks: [Data], waitsAtEnd: Bool = false) {
        state = Locked((chunks, false))
        self.waitsAtEnd = waitsAtEnd
    }

    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    func next() async throws -> Data? {
        if let chunk = state.withLock({ $0.chunks.isEmpty ? nil : $0.chunks.removeFirst() }) { return chunk }
        if waitsAtEnd { try await ManualClock().sleep(for: .seconds(1)) }
        return nil
    }

    func cancel() {
        state.withLock { $0.wasCancelled = true }
    }
}
