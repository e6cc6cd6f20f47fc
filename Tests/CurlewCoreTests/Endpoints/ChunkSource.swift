// SPDX-License-Identifier: MIT

import CurlewCore

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
        if waitsAtEnd { try await Task.sleep(for: .seconds(3600)) }
        return nil
    }

    func cancel() {
        state.withLock { $0.wasCancelled = true }
    }
}
