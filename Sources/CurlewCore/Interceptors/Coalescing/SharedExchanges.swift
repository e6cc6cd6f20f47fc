// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The exchanges that can be joined, by what they ask. There is never more than the calls that are under way.
///
/// Its lock is taken before that of an exchange, never after it.
final class SharedExchanges: Sendable {
    private let open = Locked<[CoalescingKey: SharedExchange]>([:])

    /// The open exchange of this key with a place in it, or a new one, which its first call has to begin.
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

    /// Takes an exchange off that cannot be joined any more, unless another one has its place already.
    func remove(_ key: CoalescingKey, _ exchange: SharedExchange) {
        open.withLock { open in
            if open[key] === exchange { open[key] = nil }
        }
    }

    /// Lets nobody join what is under way at this origin. Those who wait get their answers.
    func close(_ origin: Origin) {
        open.withLock { open in
            if open.isEmpty { return }
            open = open.filter { $0.value.origin != origin }
        }
    }
}
