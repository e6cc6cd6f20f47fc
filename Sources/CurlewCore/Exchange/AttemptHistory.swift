// SPDX-License-Identifier: MIT

import CurlewHTTP

/// What there is to tell about the tries of a call. Nobody makes one for a call that is answered at once.
package final class AttemptHistory: Sendable {
    /// The tries before the one that gave the answer, and that one too if `isComplete`.
    let attempts: [Attempt]
    /// What else happened in the try that gave the answer, until it is complete.
    let notes: [String]
    let isComplete: Bool
    /// The hop of the try that gave the answer, and when that began, until it is complete.
    let hop: Int
    let start: Duration

    init(
        _ attempts: [Attempt], notes: [String] = [], isComplete: Bool, hop: Int = 0, start: Duration = .zero
    ) {
        self.attempts = attempts
        self.notes = notes
        self.isComplete = isComplete
        self.hop = hop
        self.start = start
    }
}

extension HTTPResponse {
    /// What happened on each try, oldest first; the last is the one that was answered.
    ///
    /// Complete in a pipeline with `.retry()`. An answer that came at once has one attempt, whose duration is what the
    /// transport measured. At most the last 100 are kept.
    public var attempts: [Attempt] {
        get { Attempt.all(history, status, metrics) }
        set { history = AttemptHistory(newValue, isComplete: true) }
    }

    /// What has been noted about the try that gave this answer, until it is in `attempts`.
    package var notes: [String] { history?.notes ?? [] }

    /// Adds something that happened on the way of this try: `waited 12 ms for a place`.
    package mutating func note(_ text: String) {
        history = AttemptHistory(history?.attempts ?? [], notes: notes + [text], isComplete: false)
    }

    /// Puts the attempts of earlier hops before this one, unless somebody has told of them.
    mutating func follow(_ past: [Attempt], hop: Int, start: Duration) {
        guard history.map({ $0.attempts.isEmpty && !$0.isComplete }) ?? true else { return }
        history = AttemptHistory(past, notes: notes, isComplete: false, hop: hop, start: start)
    }
}

extension Attempt {
    /// The most that are kept of one call.
    package static let mostKept = 100

    static func all(_ history: AttemptHistory?, _ status: HTTPStatus, _ metrics: ExchangeMetrics) -> [Attempt] {
        let past = history?.attempts ?? []
        if let history, history.isComplete { return past }
        let last = Attempt(
            number: (past.last?.number ?? 0) + 1, hop: history?.hop ?? 0, start: history?.start ?? .zero,
            duration: metrics.total ?? metrics.firstByte ?? .zero, outcome: .status(status),
            notes: history?.notes ?? [])
        return past.adding(last)
    }
}

extension [Attempt] {
    /// These and one more; of too many the oldest go.
    package func adding(_ attempt: Attempt) -> [Attempt] {
        (self + [attempt]).suffix(Attempt.mostKept)
    }
}
