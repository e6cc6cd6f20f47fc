// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The exchanges that calls can join, by key. There are never more exchanges than calls in flight.
///
/// The lock of this type is acquired before the lock of an exchange, never after it.
final class SharedExchanges: Sendable {
    private let open = Locked<[CoalescingKey: SharedExchange]>([:])

    /// Adds a call to the open exchange of this key, or to a new exchange if there is none with the call's priority or
    /// a higher one. The first call must begin the new exchange.
    func join(
        _ key: CoalescingKey, _ context: ExchangeContext, make: () -> SharedExchange
    ) -> (SharedExchange, ticket: UInt64, isFirst: Bool) {
        open.withLock { open in
            let priority = context.options.priority ?? .normal
            if let exchange = open[key], exchange.priority.rawValue >= priority.rawValue,
                let ticket = exchange.join(context)
            {
                return (exchange, ticket, false)
            }
            let exchange = make()
            open[key] = exchange
            return (exchange, exchange.join(context) ?? 0, true)
        }
    }

    /// Removes an exchange that can no longer be joined, unless another one has replaced it.
    func remove(_ key: CoalescingKey, _ exchange: SharedExchange) {
        open.withLock { open in
            if open[key] === exchange { open[key] = nil }
        }
    }

    /// Closes the exchanges of this origin for new calls. The calls that already wait still receive their responses.
    func close(_ origin: Origin) {
        open.withLock { open in
            if open.isEmpty { return }
            open = open.filter { $0.value.origin != origin }
        }
    }
}
