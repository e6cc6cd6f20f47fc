// SPDX-License-Identifier: MIT

/// Keeps what a closure makes of the events of calls, in order; nil is left out.
package final class EventLog<Entry: Sendable>: RequestObserver {
    private let kept = Locked<[Entry]>([])
    private let entry: @Sendable (ExchangeEvent, ExchangeContext) -> Entry?

    package init(_ entry: @escaping @Sendable (ExchangeEvent, ExchangeContext) -> Entry?) {
        self.entry = entry
    }

    package var entries: [Entry] { kept.withLock { $0 } }

    package func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard let entry = entry(event, context) else { return }
        kept.withLock { $0.append(entry) }
    }
}
