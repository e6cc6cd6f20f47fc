// SPDX-License-Identifier: MIT

import CurlewCore

/// Counts the exchanges that an engine has measured, and those that it has measured again: each ends once.
final class CountingObserver: RequestObserver {
    private let ended = Locked((ids: Set<UInt64>(), repeated: 0))
    private let first = Signal()
    private let firstTime = Locked<ContinuousClock.Instant?>(nil)

    var measured: Int { ended.withLock { $0.ids.count } }
    var repeated: Int { ended.withLock { $0.repeated } }

    /// When the engine ended the first exchange, whenever the task that waits for it gets to run.
    var firstEnd: ContinuousClock.Instant {
        get async {
            await first.wait()
            return firstTime.withLock { $0 } ?? .now
        }
    }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard case .measured = event else { return }
        firstTime.withLock { $0 = $0 ?? .now }
        first.fire()
        ended.withLock { ended in
            if !ended.ids.insert(context.id).inserted { ended.repeated += 1 }
        }
    }
}

/// Keeps the measurements.
final class RecordingObserver: RequestObserver {
    private let all = Locked<[ExchangeMetrics]>([])

    var events: [ExchangeMetrics] { all.withLock { $0 } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        if case .measured(let metrics) = event { all.withLock { $0.append(metrics) } }
    }
}
