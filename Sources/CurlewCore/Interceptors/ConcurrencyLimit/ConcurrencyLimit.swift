// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Limits the number of concurrent exchanges and queues the others fairly. Created by `.concurrencyLimit(8)`. Clients
/// that share a limit are limited together.
///
/// Guarantees:
/// - At most `places` exchanges of one scope are in flight. An exchange is in flight until its body has been read to
///   the end, has failed, was cancelled, or has been discarded. An exchange whose body arrived with its response head
///   (small responses), or that failed, ends immediately.
/// - The queue is first in, first out within a `RequestOptions.priority`, higher priorities first, and every eighth
///   permit is for the call that has waited longest.
/// - A waiting call is refused if, when its turn comes, it has less time left than a typical call takes (the smoothed
///   mean and deviation of the times to the response head, once ten are known). Its permit is passed to the next call.
///   An overloaded server thus processes the calls that can still succeed.
/// - With `AdaptiveConcurrency`, the number of permits follows the times of the responses.
/// - At most `waiting` calls wait in one scope; the next one fails with `.refused(by: .concurrencyLimit)`. A call that
///   gets no permit before its deadline (`Timeouts.total`, 300 s by default) fails with `.timedOut(.queue)`. In both
///   cases, nothing was sent.
/// - A waiting call that is cancelled leaves the queue immediately.
///
/// A caller that holds unread bodies while it sends more calls can wait for its own permits. Read or discard the bodies
/// first, or rely on the deadline.
public final class ConcurrencyLimit: Sendable {
    /// The number of permits in each scope; the maximum if the limit is adaptive.
    public let places: Int
    /// The rules of an adaptive limit; nil if the limit is fixed.
    public let adaptive: AdaptiveConcurrency?
    /// The calls that share the permits.
    public let scope: LimitScope
    /// The maximum number of waiting calls in each scope.
    public let waiting: Int

    private let lines = Locked(Lines())
    /// The number of unused queues that are kept.
    private static let idleLines = 256

    /// Creates a fixed limit.
    ///
    /// - `places`: the number of permits. A value below one is a problem of the pipeline.
    /// - `scope`: the calls that share the permits. Default each origin.
    /// - `waiting`: the maximum number of waiting calls. Default 1000; zero refuses every call that gets no permit
    ///   immediately.
    public init(_ places: Int, per scope: LimitScope = .origin, waiting: Int = 1000) {
        self.places = places
        self.scope = scope
        self.waiting = max(0, waiting)
        adaptive = nil
    }

    /// Creates a limit that adapts to the number of exchanges that the server handles without queueing. The other
    /// parameters are the same.
    public init(_ adaptive: AdaptiveConcurrency, per scope: LimitScope = .origin, waiting: Int = 1000) {
        self.adaptive = adaptive
        self.scope = scope
        self.waiting = max(0, waiting)
        places = adaptive.most
    }

    /// Returns how many exchanges of a scope may be in flight now.
    public func places(of scope: LimitScope.Key) -> Int {
        lines.withLock { $0.line(of: scope)?.line.places } ?? newLine.places
    }

    private var newLine: ConcurrencyLine<Turn> {
        ConcurrencyLine(places: places, capacity: waiting, adaptive: adaptive)
    }

    /// The number of exchanges in flight and the number of waiting calls, in all scopes together.
    public var load: (running: Int, waiting: Int) {
        lines.withLock { lines in
            lines.known.values.reduce((0, 0)) { ($0.0 + $1.line.running, $0.1 + $1.line.waiting) }
        }
    }
}

/// The turn of a waiting call.
private final class Turn: Sendable {
    let shot = OneShot<Void>()
    /// Whether the turn came and the permit was passed on: the call holds no permit. Set inside the lock of the queues.
    let isLost = Locked(false)
}

extension ConcurrencyLimit {
    /// The permits and the queue of one scope. Accessed inside the lock.
    private final class Line {
        let key: LimitScope.Key
        var line: ConcurrencyLine<Turn>

        init(_ key: LimitScope.Key, _ line: ConcurrencyLine<Turn>) {
            self.key = key
            self.line = line
        }

        func take(_ step: Step) -> (going: [Turn], late: [(waiter: Turn, left: Duration)]) {
            switch step {
            case .answer(let sample): return line.answer(sample)
            case .finishBody(let now): return line.finishBody(at: now)
            case .finish(let sample): return line.finish(sample)
            }
        }
    }

    private struct Lines {
        private(set) var known: [LimitScope.Key: Line] = [:]
        /// The queue of the previous call. Most calls use the same one, which avoids hashing the origin.
        private var last: Line?

        mutating func line(of key: LimitScope.Key) -> Line? {
            if let last, last.key == key { return last }
            guard let line = known[key] else { return nil }
            last = line
            return line
        }

        mutating func add(_ line: Line) {
            known[line.key] = line
            last = line
        }

        mutating func remove(_ key: LimitScope.Key) {
            known[key] = nil
            last = nil
        }
    }

    /// An event that releases permits.
    private enum Step: Sendable {
        case answer(ConcurrencyLine<Turn>.Sample)
        case finishBody(MonotonicInstant)
        case finish(ConcurrencyLine<Turn>.Sample?)
    }

    private enum Arrival: Sendable {
        case enter
        case wait(UInt64, Turn)
        case full(Int)
    }

    /// Takes a permit of `key` if one is free and no call waits for it. If it does, the obligations of `enter(_:_:)`
    /// apply.
    func enterAtOnce(_ key: LimitScope.Key) -> Bool {
        lines.withLock { $0.line(of: key)?.line.enter() ?? false }
    }

    /// Takes a permit of `key`, waiting for it if necessary. After it returns, the caller must call
    /// `leave(_:_:sent:at:)` once, or `answer(_:_:sent:at:)` followed by `leaveBody(_:at:)`.
    func enter(_ key: LimitScope.Key, _ context: ExchangeContext) async throws {
        let arrival = lines.withLock { lines -> Arrival in
            let known = lines.line(of: key)
            let line = known ?? Line(key, newLine)
            if known == nil { lines.add(line) }
            if line.line.enter() { return .enter }
            let turn = Turn()
            guard let ticket = line.line.wait(turn, until: context.deadline, context.options.priority ?? .normal)
            else {
                return .full(line.line.waiting)
            }
            return .wait(ticket, turn)
        }
        switch arrival {
        case .enter:
            return
        case .wait(let ticket, let turn):
            do {
                try await turn.shot.wait(until: context.deadline, on: context.time)
            } catch {
                // The turn may have come at the same moment. The permit is passed to the next call, unless that has
                // already happened.
                let hadTurn = lines.withLock { lines -> Bool in
                    // The queue of a lost turn may have been removed, and the ticket may belong to a call in another
                    // queue.
                    guard !turn.isLost.withLock({ $0 }) else { return false }
                    return !(lines.line(of: key)?.line.leave(ticket) ?? true)
                }
                if hadTurn { take(.finish(nil), key) }
                guard error is DeadlinePassed else { throw error }
                throw refusal(of: key, .timedOut(.queue), "No place came free before the deadline of the call")
            }
        case .full(let count):
            throw refusal(of: key, .refused(by: .concurrencyLimit), "\(count) calls wait for a place already")
        }
    }

    /// Records a response head whose body has not ended: the permit is kept.
    func answer(
        _ key: LimitScope.Key, _ outcome: ConcurrencyOutcome, sent: MonotonicInstant, at now: MonotonicInstant
    ) {
        take(.answer(ConcurrencyLine<Turn>.Sample(sent: sent, outcome: outcome, now: now)), key)
    }

    /// Releases the permit of an exchange that was recorded with `answer`, and serves the queue.
    func leaveBody(_ key: LimitScope.Key, at now: MonotonicInstant) {
        take(.finishBody(now), key)
    }

    /// Releases a permit and serves the queue.
    func leave(_ key: LimitScope.Key, _ outcome: ConcurrencyOutcome, sent: MonotonicInstant, at now: MonotonicInstant) {
        take(.finish(ConcurrencyLine<Turn>.Sample(sent: sent, outcome: outcome, now: now)), key)
    }

    private func take(_ step: Step, _ key: LimitScope.Key) {
        let (going, late, usual) = lines.withLock {
            lines -> ([Turn], [(waiter: Turn, left: Duration)], Duration?) in
            guard let line = lines.line(of: key) else { return ([], [], nil) }
            let (going, late) = line.take(step)
            for each in late { each.waiter.isLost.withLock { $0 = true } }
            if line.line.isIdle, lines.known.count > Self.idleLines { lines.remove(key) }
            return (going, late, line.line.usualTime)
        }
        for turn in going { turn.shot.finish(.success(())) }
        for (turn, left) in late {
            let what = "The call has \(left.brief) left and a typical one takes \(usual?.brief ?? "longer")"
            turn.shot.finish(.failure(refusal(of: key, .refused(by: .concurrencyLimit), what)))
        }
    }

    private func refusal(of key: LimitScope.Key, _ reason: NetworkError.Reason, _ what: String) -> NetworkError {
        let places = places(of: key)
        return NetworkError(
            reason, detail: "\(what): \(places) at a time are let through for \(key).",
            hint: "Start fewer calls at a time, read or drop the bodies of answers, give urgent calls a higher "
                + "RequestOptions.priority, or raise .concurrencyLimit(\(places)).")
    }
}
