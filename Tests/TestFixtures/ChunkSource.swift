// SPDX-License-Identifier: MIT

/// The body of a transport: gives its chunks, then ends, fails, or waits forever until it is cancelled. Says what was
/// asked of it.
package final class ChunkSource: ResponseBodySource {
    private struct State {
        var chunks: [Data]
        var pulls = 0
        var wasCancelled = false
    }

    private let state: Locked<State>
    private let error: NetworkError?
    private let waitsAtEnd: Bool

    package init(_ chunks: [Data], error: NetworkError? = nil, waitsAtEnd: Bool = false) {
        state = Locked(State(chunks: chunks))
        self.error = error
        self.waitsAtEnd = waitsAtEnd
    }

    package convenience init(_ texts: [String], error: NetworkError? = nil) {
        self.init(texts.map { Data($0.utf8) }, error: error)
    }

    package var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    /// How often a chunk was asked for.
    package var pulls: Int { state.withLock { $0.pulls } }

    package func next() async throws -> Data? {
        let chunk = try state.withLock { state throws(NetworkError) -> Data? in
            if state.wasCancelled { throw NetworkError(.cancelled) }
            state.pulls += 1
            return state.chunks.isEmpty ? nil : state.chunks.removeFirst()
        }
        if let chunk { return chunk }
        if let error { throw error }
        if waitsAtEnd { try await ManualClock().sleep(for: .seconds(1)) }
        return nil
    }

    package func cancel() {
        state.withLock { $0.wasCancelled = true }
    }
}
