// SPDX-License-Identifier: MIT

/// Counts the exchanges that a transport has measured, and those that it has measured again: each ends once.
final class CountingObserver: RequestObserver {
    /// Which have ended, a bit for each: the numbers are a counter's, and a test of memory must not need much itself.
    private let ended = Locked((bits: [UInt64](), measured: 0, repeated: 0))
    private let first = Signal()
    private let firstTime = Locked<ContinuousClock.Instant?>(nil)

    var measured: Int { ended.withLock { $0.measured } }
    var repeated: Int { ended.withLock { $0.repeated } }

    /// When the transport ended the first exchange, whenever the task that waits for it gets to run.
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
            let (word, bit) = (Int(context.id / 64), UInt64(1) << (context.id % 64))
            if word >= ended.bits.count {
                ended.bits.append(contentsOf: repeatElement(0, count: word + 1024 - ended.bits.count))
            }
            if ended.bits[word] & bit == 0 { ended.measured += 1 } else { ended.repeated += 1 }
            ended.bits[word] |= bit
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
