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
/// - At most `waiting` calls wait in one scope; the next one fails with `.refused(by: .concurrencyLimit)`. One that finds
///   no place before its deadline (`Timeouts.total`, 300 s by default) fails with `.timedOut(.queue)`. Nothing was sent.
/// - A waiting call that is cancelled leaves the line at once.
///
/// A caller that holds unread bodies while it sends more calls waits for itself: read or drop them first, or count on
/// the deadline.
public final class ConcurrencyLimit: Sendable {
    /// How many at a time, in each scope.
    public let places: Int
    /// What shares the places.
    public let scope: LimitScope
    /// How many may wait, in each scope.
    public let waiting: Int

    private let lines = Locked<[LimitKey: Line]>([:])
    /// Lines that are not in use are kept up to here.
    private static let idleLines = 64

    /// - `places`: how many at a time. Below one is a problem of the pipeline.
    /// - `scope`: what shares them. Default each origin.
    /// - `waiting`: how many may wait. Default 1000; zero refuses whatever finds no place.
    public init(_ places: Int, per scope: LimitScope = .origin, waiting: Int = 1000) {
        self.places = places
        self.scope = scope
        self.waiting = max(0, waiting)
    }

    /// How many exchanges are under way, and how many wait, in all scopes together.
    public var load: (running: Int, waiting: Int) {
        lines.withLock { lines in
            lines.values.reduce((0, 0)) { ($0.0 + $1.places.running, $0.1 + $1.places.count) }
        }
    }
}

extension ConcurrencyLimit {
    /// The places of one scope, inside the lock.
    private final class Line {
        var places: WaitingLine<OneShot<Void>>

        init(_ places: WaitingLine<OneShot<Void>>) {
            self.places = places
        }
    }

    private enum Arrival: Sendable {
        case enter
        case wait(UInt64, OneShot<Void>)
        case full(Int)
    }

    /// Takes a place for `key`, waiting for it if need be. Whoever returns from here calls `leave(_:)` once.
    func enter(_ key: LimitKey, _ context: ExchangeContext) async throws {
        let arrival = lines.withLock { lines -> Arrival in
            let known = lines[key]
            let line = known ?? Line(WaitingLine(places: places, capacity: waiting))
            if known == nil { lines[key] = line }
            if line.places.enter() { return .enter }
            let turn = OneShot<Void>()
            guard let ticket = line.places.wait(turn, context.options.priority ?? .normal) else {
                return .full(line.places.count)
            }
            return .wait(ticket, turn)
        }
        switch arrival {
        case .enter:
            return
        case .wait(let ticket, let turn):
            do {
                try await turn.wait(until: context.deadline, on: context.time)
            } catch {
                // One's turn may have come in the same moment: the place goes to the next one.
                if !lines.withLock({ $0[key]?.places.leave(ticket) ?? true }) { leave(key) }
                guard error is DeadlinePassed else { throw error }
                throw refusal(of: key, .timedOut(.queue), "No place came free before the deadline of the call")
            }
        case .full(let count):
            throw refusal(of: key, .refused(by: .concurrencyLimit), "\(count) calls wait for a place already")
        }
    }

    /// Gives a place back; the next one in line has it.
    func leave(_ key: LimitKey) {
        let turn = lines.withLock { lines -> OneShot<Void>? in
            guard let line = lines[key] else { return nil }
            line.places.finish()
            if line.places.isIdle, lines.count > Self.idleLines { lines[key] = nil }
            return line.places.next()
        }
        turn?.finish(.success(()))
    }

    private func refusal(of key: LimitKey, _ reason: NetworkError.Reason, _ what: String) -> NetworkError {
        NetworkError(
            reason, detail: "\(what): \(places) at a time are let through for \(key).",
            hint: "Start fewer calls at a time, read or drop the bodies of answers, give urgent calls a higher "
                + "RequestOptions.priority, or raise .concurrencyLimit(\(places)).")
    }
}
