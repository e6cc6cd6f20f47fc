// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// At most `perHost` exchanges with one origin at a time. Up to `waitingPerHost` others wait: `FairQueue` says whose turn
/// it is.
///
/// An exchange is known by its identity from `enter` until `leave` or `abandon`; its caller keeps it alive meanwhile.
final class HostSlots: Sendable {
    private typealias Start = @Sendable () -> Void

    private enum Place {
        case running(Origin)
        case waiting(Origin, ticket: UInt64)
    }

    private struct Host {
        var running = 0
        var waiting: FairQueue<(id: ObjectIdentifier, start: Start)>
    }

    private struct State {
        var hosts: [Origin: Host] = [:]
        var places: [ObjectIdentifier: Place] = [:]
    }

    private let perHost, waitingPerHost: Int
    private let state = Locked(State())

    init(perHost: Int, waitingPerHost: Int) {
        self.perHost = perHost
        self.waitingPerHost = waitingPerHost
    }

    /// Calls `start` when there is a slot, at once if there is one now. False if too many wait already; nothing is called
    /// then.
    func enter(
        _ exchange: AnyObject, origin: Origin, _ priority: RequestPriority?, start: @escaping @Sendable () -> Void
    ) -> Bool {
        let id = ObjectIdentifier(exchange)
        let (isFree, isIn) = state.withLock { state in
            var host = state.hosts[origin] ?? Host(waiting: FairQueue(capacity: waitingPerHost))
            defer { state.hosts[origin] = host }
            guard host.running >= perHost else {
                host.running += 1
                state.places[id] = .running(origin)
                return (true, true)
            }
            guard let ticket = host.waiting.wait((id, start), priority ?? .normal) else { return (false, false) }
            state.places[id] = .waiting(origin, ticket: ticket)
            return (false, true)
        }
        if isFree { start() }
        return isIn
    }

    /// Gives up waiting. False if the exchange does not wait: it was started, or is not known.
    func abandon(_ exchange: AnyObject) -> Bool {
        let id = ObjectIdentifier(exchange)
        return state.withLock { state in
            guard case .waiting(let origin, let ticket) = state.places[id] else { return false }
            state.places[id] = nil
            return state.hosts[origin]?.waiting.leave(ticket) ?? false
        }
    }

    /// Frees the slot of an exchange and starts the next one. Does nothing for one that has none.
    func leave(_ exchange: AnyObject) {
        let id = ObjectIdentifier(exchange)
        let next = state.withLock { state -> Start? in
            guard case .running(let origin) = state.places[id], var host = state.hosts[origin] else { return nil }
            state.places[id] = nil
            let next = host.waiting.next()
            if let next { state.places[next.id] = .running(origin) } else { host.running -= 1 }
            state.hosts[origin] = host.running > 0 ? host : nil
            return next?.start
        }
        next?()
    }

    /// How many run and how many wait, with all origins.
    var counts: (running: Int, waiting: Int) {
        state.withLock { state in
            state.hosts.values.reduce((0, 0)) { ($0.0 + $1.running, $0.1 + $1.waiting.count) }
        }
    }
}
