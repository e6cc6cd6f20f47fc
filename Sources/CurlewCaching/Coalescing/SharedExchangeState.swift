// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The state of a shared exchange: the calls that wait for it, and their outcomes. A pure state machine: it returns the
/// effects to perform.
///
/// A call leaves when it has the response or an error, when its deadline passes, or when it is cancelled. When the last
/// call leaves before there is a response, the work stops.
struct SharedExchangeState: Sendable {
    typealias Waiter = CheckedContinuation<Outcome, any Error>

    enum Outcome: Sendable {
        case response(HTTPResponse)
        /// The response belongs to another principal. The call starts again and may join another exchange.
        case retry
        /// The body of the response is still arriving, and another call reads it. This call sends a separate request.
        case alone
    }

    /// The effects to perform after the lock is released.
    struct Effects: Sendable {
        var deliveries: [(Waiter, Result<Outcome, any Error>)] = []
        var alarm: SystemTime.Instant?
        var unclaimed: HTTPResponse?
        /// Whether to stop the work, because no call is left.
        var stops = false
    }

    private struct Reader: Sendable {
        let deadline: SystemTime.Deadline
        let phase: NetworkError.Phase
        var waiter: Waiter?
    }

    private enum Resolution: Sendable {
        case all(Result<HTTPResponse, NetworkError>)
        case one(HTTPResponse, ticket: UInt64, others: Outcome)
    }

    private static let firstTicket: UInt64 = 1

    private var readers: [UInt64: Reader] = [:]
    private var lastTicket: UInt64 = 0
    private var resolution: Resolution?
    /// Whether the last call has left without a response.
    private var isStopped = false

    // MARK: What calls do

    /// Adds a call and returns its ticket; nil if there is a response or an error, or if no calls are left.
    mutating func join(_ context: ExchangeContext) -> UInt64? {
        guard resolution == nil, !isStopped else { return nil }
        lastTicket += 1
        let deadline = context.deadline
        readers[lastTicket] = Reader(
            deadline: deadline, phase: deadline == context.totalDeadline ? .total : .attempt)
        return lastTicket
    }

    /// Delivers the outcome to a call, or keeps its waiter until there is an outcome.
    mutating func wait(_ ticket: UInt64, _ waiter: Waiter, now: SystemTime.Instant, _ effects: inout Effects) {
        guard let reader = readers[ticket] else {
            return effects.deliveries.append((waiter, .failure(NetworkError(.cancelled))))
        }
        readers[ticket]?.waiter = waiter
        if let resolution {
            deliver(ticket, resolution, &effects)
        } else if reader.deadline.hasPassed(at: now) {
            leave(ticket, because: Self.timeout(reader.phase), &effects)
        } else {
            effects.alarm = reader.deadline.instant
        }
    }

    /// Removes a call. If the call is waiting, it receives the error.
    mutating func leave(_ ticket: UInt64, because error: NetworkError, _ effects: inout Effects) {
        guard let reader = readers.removeValue(forKey: ticket) else { return }
        if let waiter = reader.waiter { effects.deliveries.append((waiter, .failure(error))) }
        if case .one(let response, ticket, _) = resolution { effects.unclaimed = response }
        guard readers.isEmpty, resolution == nil else { return }
        isStopped = true
        effects.stops = true
    }

    /// Removes the calls whose deadline has passed.
    mutating func timerFired(_ now: SystemTime.Instant, _ effects: inout Effects) {
        for (ticket, reader) in readers where reader.waiter != nil && reader.deadline.hasPassed(at: now) {
            leave(ticket, because: Self.timeout(reader.phase), &effects)
        }
        effects.alarm = readers.values.lazy.filter { $0.waiter != nil }.compactMap(\.deadline.instant).min()
    }

    // MARK: What the work does

    /// Records the response.
    ///
    /// - `isWhole`: whether the body is complete. If it is not, only one call receives the response, and the others
    ///   send separate requests.
    /// - `isShared`: whether the response is for all calls, or only for the call that began the exchange.
    mutating func resolve(_ response: HTTPResponse, isWhole: Bool, isShared: Bool, _ effects: inout Effects) {
        if isWhole, isShared, !isStopped {
            end(.all(.success(response)), &effects)
            return
        }
        let ticket = isShared ? readers.keys.min() ?? 0 : Self.firstTicket
        if readers[ticket] == nil { effects.unclaimed = response }
        end(.one(response, ticket: ticket, others: isShared ? .alone : .retry), &effects)
    }

    /// Records the error of the exchange. All calls receive it.
    mutating func fail(_ error: NetworkError, _ effects: inout Effects) {
        end(.all(.failure(error)), &effects)
    }

    // MARK: Inside

    var hasReaders: Bool { !readers.isEmpty }

    private mutating func end(_ resolution: Resolution, _ effects: inout Effects) {
        self.resolution = resolution
        for (ticket, reader) in readers where reader.waiter != nil { deliver(ticket, resolution, &effects) }
    }

    private mutating func deliver(_ ticket: UInt64, _ resolution: Resolution, _ effects: inout Effects) {
        guard let waiter = readers.removeValue(forKey: ticket)?.waiter else { return }
        let outcome: Result<Outcome, any Error> =
            switch resolution {
            case .all(.success(let response)), .one(let response, ticket, _): .success(.response(response))
            case .all(.failure(let error)): .failure(error)
            case .one(_, _, let others): .success(others)
            }
        effects.deliveries.append((waiter, outcome))
    }

    private static func timeout(_ phase: NetworkError.Phase) -> NetworkError {
        NetworkError(.timedOut(phase), detail: "The call timed out before the exchange that it shared.")
    }
}
