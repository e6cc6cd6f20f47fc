// SPDX-License-Identifier: MIT

import CurlewCore

/// The senders and pings of one WebSocket connection that wait for URLSession.
///
/// URLSession may call a handler late, twice, or never after the connection is lost. Each waiting task is resumed
/// exactly once: by its handler, by the end of the connection, or by its cancellation.
final class SocketSenders: Sendable {
    typealias Handler = @Sendable (Result<Void, NetworkError>) -> Void
    private typealias Wait = Monitor<Result<Void, NetworkError>?>

    private let state = Locked((waiting: [ObjectIdentifier: Wait](), pings: 0))
    private static let pingLimit = 64

    /// The number of tasks that wait.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Starts an operation and waits until its handler is called.
    ///
    /// - `start`: starts the operation; returns an error instead if the connection has ended. Called even if the task
    ///   was cancelled before.
    func wait(_ start: (@escaping Handler) -> NetworkError?) async throws {
        let wait = Wait(nil)
        state.withLock { $0.waiting[ObjectIdentifier(wait)] = wait }
        defer { state.withLock { $0.waiting[ObjectIdentifier(wait)] = nil } }
        // Started after it is registered: the connection may end in between.
        if let failure = start({ wait.end($0) }) { wait.end(.failure(failure)) }
        try (await wait.wait(until: { $0 }) ?? .failure(NetworkError(.cancelled))).get()
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

    func end(_ error: NetworkError) {
        for wait in state.withLock({ Array($0.waiting.values) }) { wait.end(.failure(error)) }
    }
}

extension Monitor<Result<Void, NetworkError>?> {
    fileprivate func end(_ result: Result<Void, NetworkError>) {
        withLock { $0 = $0 ?? result }
    }
}
