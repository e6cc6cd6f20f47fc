// SPDX-License-Identifier: MIT

import CurlewCore

/// The time of the last attempt that was sent, and the number of them.
final class SentAttempts: SendCheck {
    let outer: (any SendCheck)?
    private let state = Locked<(attempt: Int, left: SystemTime.Instant, count: Int)?>(nil)

    init(outer: (any SendCheck)?) {
        self.outer = outer
    }

    var left: SystemTime.Instant? { state.withLock { $0?.left } }

    /// Records that an attempt was sent. If one attempt sends two requests, the time of the first one counts: an age
    /// may then be too high, but never too low.
    func leave(at now: SystemTime.Instant, in context: ExchangeContext) {
        state.withLock { state in
            if state?.attempt != context.attempt { state = (context.attempt, now, (state?.count ?? 0) + 1) }
        }
    }

    /// Whether the server may have acted on a request that ended with this error. The error describes only the last
    /// attempt, so after several attempts the request counts as received.
    func mayHaveArrived(_ error: NetworkError) -> Bool {
        guard let count = state.withLock({ $0?.count }) else { return false }
        return count > 1 || !error.reason.notReceived
    }
}
