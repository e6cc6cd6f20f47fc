// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Limits the number of concurrent exchanges and queues the others fairly.
///
/// `.concurrencyLimit(8)` creates a limit. Clients that share a limit share its permits.
///
/// Guarantees:
/// - At most `permits` exchanges of one scope are in flight. An exchange is in flight until its response body has been
///   read to the end, has failed, or has been cancelled or discarded. If the body arrived with the response head, as in
///   small responses, or if the exchange failed, the permit is released immediately.
/// - The queue is first in, first out within a `RequestOptions.priority`, with higher priorities first. Every eighth
///   permit goes to the call that has waited longest.
/// - At most `waiting` calls wait in one scope; further calls fail with `.refused(by: .concurrencyLimit)`. A call that
///   gets no permit before its deadline (`Timeouts.total`, 300 s by default) fails with `.timedOut(.queue)`. In both
///   cases, nothing was sent.
/// - A waiting call that is cancelled leaves the queue immediately.
///
/// A caller that holds unread bodies while it sends more calls can end up waiting for its own permits. Read or discard
/// the bodies first, or rely on the deadline.
public final class ConcurrencyLimit: Sendable {
    let permits: Int
    let scope: LimitScope
    let waiting: Int

    private let queues = Locked(Queues())
    /// The number of scopes above which a scope is forgotten as soon as it has no exchanges and no waiting calls.
    private static let idleQueues = 256

    /// Creates a limit.
    ///
    /// - `permits`: the number of permits. With a value below one, every call throws `.configuration`.
    /// - `scope`: the calls that share the permits. Default: the calls to one origin.
    /// - `waiting`: the maximum number of waiting calls in each scope. Default 1000. Zero, and any negative number,
    ///   refuses every call that gets no permit immediately.
    public init(_ permits: Int, per scope: LimitScope = .origin, waiting: Int = 1000) {
        self.permits = permits
        self.scope = scope
        self.waiting = max(0, waiting)
    }

    /// The number of exchanges in flight and the number of waiting calls, over all scopes.
    var load: (running: Int, waiting: Int) {
        queues.withLock { queues in
            queues.known.values.reduce((0, 0)) { ($0.0 + $1.queue.running, $0.1 + $1.queue.waiting) }
        }
    }
}

extension ConcurrencyLimit {
    /// The permits and the queue of one scope. Accessed inside the lock.
    private final class ScopeQueue {
        let key: LimitScope.Key
        var queue: ConcurrencyQueue<SharedResult<Void>>

        init(_ key: LimitScope.Key, _ queue: ConcurrencyQueue<SharedResult<Void>>) {
            self.key = key
            self.queue = queue
        }
    }

    private struct Queues {
        private(set) var known: [LimitScope.Key: ScopeQueue] = [:]
        /// The queue of the previous call. Consecutive calls often use the same queue, and this avoids hashing its key.
        private var last: ScopeQueue?

        mutating func queue(of key: LimitScope.Key) -> ScopeQueue? {
            if let last, last.key == key { return last }
            guard let queue = known[key] else { return nil }
            last = queue
            return queue
        }

        mutating func add(_ queue: ScopeQueue) {
            known[queue.key] = queue
            last = queue
        }

        mutating func remove(_ key: LimitScope.Key) {
            known[key] = nil
            last = nil
        }
    }

    private enum Arrival: Sendable {
        case acquire
        case wait(UInt64, SharedResult<Void>)
        case full(Int)
    }

    /// Takes a permit of `key` if one is free and no call waits for it, and returns whether it did. Returns false for a
    /// scope that is not known yet. After true, the caller has the same obligations as after `acquire(_:_:)`.
    func enterAtOnce(_ key: LimitScope.Key) -> Bool {
        queues.withLock { $0.queue(of: key)?.queue.acquire() ?? false }
    }

    /// Takes a permit of `key`, waiting for it if necessary. When this method has returned, the caller must call
    /// `leave(_:)` once.
    func acquire(_ key: LimitScope.Key, _ context: ExchangeContext) async throws {
        let arrival = queues.withLock { queues -> Arrival in
            let known = queues.queue(of: key)
            let queue = known ?? ScopeQueue(key, ConcurrencyQueue(permits: permits, capacity: waiting))
            if known == nil { queues.add(queue) }
            if queue.queue.acquire() { return .acquire }
            let turn = SharedResult<Void>()
            guard let ticket = queue.queue.wait(turn, context.options.priority ?? .normal) else {
                return .full(queue.queue.waiting)
            }
            return .wait(ticket, turn)
        }
        switch arrival {
        case .acquire:
            return
        case .wait(let ticket, let turn):
            do {
                try await turn.wait(until: context.deadline, on: context.time)
            } catch {
                // The turn may have come at the same moment. The permit is then passed to the next call.
                let hadTurn = queues.withLock { $0.queue(of: key)?.queue.leave(ticket) == false }
                if hadTurn { leave(key) }
                guard error is DeadlinePassed else { throw error }
                throw refusal(of: key, .timedOut(.queue), "No permit became free before the deadline of the call")
            }
        case .full(let count):
            throw refusal(of: key, .refused(by: .concurrencyLimit), "\(count) calls already wait for a permit")
        }
    }

    /// Releases the permit of an exchange, and passes it to the next waiting call.
    func leave(_ key: LimitScope.Key) {
        let turn = queues.withLock { queues -> SharedResult<Void>? in
            guard let queue = queues.queue(of: key) else { return nil }
            defer { if queue.queue.isIdle, queues.known.count > Self.idleQueues { queues.remove(key) } }
            return queue.queue.finish()
        }
        turn?.finish(.success(()))
    }

    private func refusal(of key: LimitScope.Key, _ reason: NetworkError.Reason, _ what: String) -> NetworkError {
        NetworkError(
            reason, detail: "\(what): the limit for \(key) is \(permits) at a time.",
            hint: "Start fewer concurrent calls, read or drop response bodies, give urgent calls a higher "
                + "RequestOptions.priority, or raise .concurrencyLimit(\(permits)).")
    }
}
