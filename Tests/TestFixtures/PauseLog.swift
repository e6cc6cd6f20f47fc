// SPDX-License-Identifier: MIT

/// A clock that skips pauses and records their durations.
package struct PauseLog: TimeSource {
    private let clock = ManualClock.skippingWaits
    private let log = Locked<[Duration]>([])

    package init() {}

    /// The pauses, in order.
    package var pauses: [Duration] { log.withLock { $0 } }

    package var now: SystemTime.Instant { clock.now }
    package var date: Date { clock.date }

    package func sleep(until instant: SystemTime.Instant) async throws {
        log.withLock { $0.append(clock.now.duration(to: instant)) }
        try await clock.sleep(until: instant)
    }

    package func alarm(at instant: SystemTime.Instant) async throws {
        try await clock.alarm(at: instant)
    }

    /// Advances the clock.
    package func advance(by duration: Duration) {
        clock.advance(by: duration)
    }
}
