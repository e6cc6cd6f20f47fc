// SPDX-License-Identifier: MIT

import CurlewHTTP

/// So many exchanges at a time, and a fair line for the others. Made by `.concurrencyLimit(8)`; share one among clients
/// that are to be limited together.
///
/// What it guarantees:
/// - Never more than `places` exchanges of one scope are under way. An exchange is under way until its body has been
///   read to its end, has failed, was cancelled, or nobody can read it any more; one whose body came with its head (small
///   answers), or that failed, is over at once.
/// - The line is first come, first served within a `RequestOptions.priority`, a higher one goes first, and every eighth
///   place goes to whoever has waited longest.
/// - A waiting call whose turn comes when it has less time left than a typical call takes (the smoothed mean and deviation
///   of the times to the head, once ten are known) is refused and its place is the next one's: a server that is too slow
///   for all of them is busy with those that can still succeed.
/// - With `AdaptiveConcurrency` the places follow the times of the responses.
/// - At most `waiting` calls wait in one scope; the next one fails with `.refused(by: .concurrencyLimit)`. One that finds
///   no place before its deadline (`Timeouts.total`, 300 s by default) fails with `.timedOut(.queue)`. Nothing was sent.
/// - A waiting call that is cancelled leaves the line at once.
///
/// A caller that holds unread bodies while it sends more calls waits for itself: read or drop them first, or count on
/// the deadline.
public final class ConcurrencyLimit: Sendable {
    /// How many at a time, in each scope; the most, if that is learned.
    public let places: Int
    /// How the places are learned; nil if they are fixed.
    public let adaptive: AdaptiveConcurrency?
    /// What shares the places.
    public let scope: LimitScope
    /// How many may wait, in each scope.
    public let waiting: Int

    private let lines = Locked(Lines())
    /// Lines that are not in use are kept up to here.
    private static let idleLines = 256

    /// - `places`: how many at a time. Below one is a problem of the pipeline.
    /// - `scope`: what shares them. Default each origin.
    /// - `waiting`: how many may wait. Default 1000; zero refuses whatever finds no place.
    public init(_ places: Int, per scope: LimitScope = .origin, waiting: Int = 1000) {
        self.places = places
        self.scope = scope
        self.waiting = max(0, waiting)
        adaptive = nil
    }

    /// As many at a time as the server does without a line of its own. The other parameters are the same.
    public init(_ adaptive: AdaptiveConcurrency, per scope: LimitScope = .origin, waiting: Int = 1000) {
        self.adaptive = adaptive
        self.scope = scope
        self.waiting = max(0, waiting)
        places = adaptive.most
    }

    /// How many exchanges of a scope may be under way now.
    public func places(of scope: LimitScope.Key) -> Int {
        lines.withLock { $0.line(of: scope)?.line.places } ?? newLine.places
    }

    private var newLine: ConcurrencyLine<Turn> {
        ConcurrencyLine(places: places, capacity: waiting, adaptive: adaptive)
    }

    /// How many exchanges are under way, and how many wait, in all scopes together.
    public var load: (running: Int, waiting: Int) {
        lines.withLock { lines in
            lines.known.values.reduce((0, 0)) { ($0.0 + $1.line.running, $0.1 + $1.line.waiting) }
        }
    }
}

/// The turn of a waiting call.
private final class Turn: Sendable {
    let shot = OneShot<Void>()
    /// It has come and was given away: the call holds no place. Set inside the lock of the lines.
    let isLost = Locked(false)
}

extension ConcurrencyLimit {
    /// The places of one scope, inside the lock.
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
        /// Most calls go where the one before went, which spares hashing the origin.
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

    /// What frees places.
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

    /// Takes a place for `key` if one is free and no call waits for it. What is said of `enter(_:_:)` holds if it does.
    func enterAtOnce(_ key: LimitScope.Key) -> Bool {
        lines.withLock { $0.line(of: key)?.line.enter() ?? false }
    }

    /// Takes a place for `key`, waiting for it if need be. Whoever returns from here calls once `leave(_:_:sent:at:)`,
    /// or `answer(_:_:sent:at:)` and after it `leaveBody(_:at:)`.
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
                // One's turn may have come in the same moment: the place goes to the next one, unless it has gone there.
                let hadTurn = lines.withLock { lines -> Bool in
                    // The line of a turn that is lost may be gone, and the ticket be that of a call in another one.
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

    /// The head of the response is there and its body is not over: the place is kept.
    func answer(
        _ key: LimitScope.Key, _ outcome: ConcurrencyOutcome, sent: MonotonicInstant, at now: MonotonicInstant
    ) {
        take(.answer(ConcurrencyLine<Turn>.Sample(sent: sent, outcome: outcome, now: now)), key)
    }

    /// Gives the place of an exchange back that was answered; the next in the queue have it.
    func leaveBody(_ key: LimitScope.Key, at now: MonotonicInstant) {
        take(.finishBody(now), key)
    }

    /// Gives a slot back; the next in the queue have it.
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
