// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Limits the number of exchanges that run at a time with one origin to `perHost`. Up to `waitingPerHost` further
/// exchanges wait, in the order of `FairQueue`.
///
/// An exchange is identified by its object identity from `requestSlot` until `releaseSlot` or `abandon`. The caller
/// must keep the object alive for that time.
final class HostSlots: Sendable {
    private typealias Start = @Sendable () -> Void

    private enum Occupancy {
        case running(Origin)
        case waiting(Origin, ticket: UInt64)
    }

    private struct Host {
        var running = 0
        var waiting: FairQueue<(id: ObjectIdentifier, start: Start)>
    }

    private struct State {
        var hosts: [Origin: Host] = [:]
        var occupancies: [ObjectIdentifier: Occupancy] = [:]
    }

    private let perHost, waitingPerHost: Int
    private let state = Locked(State())

    init(perHost: Int, waitingPerHost: Int) {
        self.perHost = perHost
        self.waitingPerHost = waitingPerHost
    }

    /// Calls `start` when a slot is free, immediately if one is free now. Returns false, without calling `start`, if
    /// too many exchanges already wait.
    func requestSlot(
        for exchange: AnyObject, origin: Origin, _ priority: RequestOptions.Priority?,
        start: @escaping @Sendable () -> Void
    ) -> Bool {
        let id = ObjectIdentifier(exchange)
        let (isFree, isIn) = state.withLock { state in
            var host = state.hosts[origin] ?? Host(waiting: FairQueue(capacity: waitingPerHost))
            defer { state.hosts[origin] = host }
            guard host.running >= perHost else {
                host.running += 1
                state.occupancies[id] = .running(origin)
                return (true, true)
            }
            guard let ticket = host.waiting.wait((id, start), priority ?? .normal) else { return (false, false) }
            state.occupancies[id] = .waiting(origin, ticket: ticket)
            return (false, true)
        }
        if isFree { start() }
        return isIn
    }

    /// Removes a waiting exchange. Returns false if the exchange does not wait, because it was started or is unknown.
    func abandon(_ exchange: AnyObject) -> Bool {
        let id = ObjectIdentifier(exchange)
        return state.withLock { state in
            guard case .waiting(let origin, let ticket) = state.occupancies[id] else { return false }
            state.occupancies[id] = nil
            return state.hosts[origin]?.waiting.leave(ticket) ?? false
        }
    }

    /// Releases the slot of an exchange and starts the next waiting exchange. Does nothing if the exchange has no slot.
    func releaseSlot(of exchange: AnyObject) {
        let id = ObjectIdentifier(exchange)
        let next = state.withLock { state -> Start? in
            guard case .running(let origin) = state.occupancies[id], var host = state.hosts[origin] else { return nil }
            state.occupancies[id] = nil
            let next = host.waiting.next()
            if let next { state.occupancies[next.id] = .running(origin) } else { host.running -= 1 }
            state.hosts[origin] = host.running > 0 ? host : nil
            return next?.start
        }
        next?()
    }

    /// The numbers of running and waiting exchanges, over all origins.
    var counts: (running: Int, waiting: Int) {
        state.withLock { state in
            state.hosts.values.reduce((0, 0)) { ($0.0 + $1.running, $0.1 + $1.waiting.count) }
        }
    }
}
