// SPDX-License-Identifier: MIT

import CurlewCore

/// The senders and pings of one WebSocket connection that wait for URLSession.
///
/// URLSession may call a handler late, twice, or never after the connection is lost. Each waiting task is resumed exactly
/// once: by its handler, by the end of the connection, or by its cancellation.
final class SocketSenders: Sendable {
    typealias Handler = @Sendable (Result<Void, NetworkError>) -> Void

    private struct State {
        var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var next: UInt64 = 0
        var pings = 0
    }

    private let state = Locked(State())
    private static let pingLimit = 64

    /// The number of tasks that wait.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Starts an operation and waits until its handler is called.
    ///
    /// - `start`: starts the operation; returns an error instead if the connection has ended. Called even if the task was
    ///   cancelled before.
    func wait(_ start: (@escaping Handler) -> NetworkError?) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    // Read once: it may change at any time.
                    if Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isCancelled { continuation.resume(throwing: NetworkError(.cancelled)) }
                // Started after it is registered: the connection may end in between.
                let failure = start { [weak self] in self?.finish(number, $0) }
                if let failure { finish(number, .failure(failure)) }
            }
        } onCancel: {
            finish(number, .failure(NetworkError(.cancelled)))
        }
    }

    /// Waits for a pong, unless too many pings wait already.
    func waitForPong(_ start: (@escaping Handler) -> NetworkError?) async throws {
        let isFree = state.withLock { state in
            guard state.pings < Self.pingLimit else { return false }
            state.pings += 1
            return true
        }
        guard isFree else {
            throw NetworkError(.invalidRequest, detail: "\(Self.pingLimit) pings already wait for their pongs.")
        }
        defer { state.withLock { $0.pings -= 1 } }
        try await wait(start)
    }

    /// Ends all waits.
    func end(_ error: NetworkError) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(throwing: error) }
    }

    private func finish(_ number: UInt64, _ result: Result<Void, NetworkError>) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        continuation?.resume(with: result)
    }
}
