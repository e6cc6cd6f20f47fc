// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The recorded attempts of a call. A call whose first attempt receives a response usually needs none.
package final class AttemptHistory: Sendable {
    /// The attempts before the one that produced the response, and also that one if `isComplete` is true.
    let attempts: [NetworkError.Attempt]
    /// Other events of the attempt that produced the response, until the history is complete.
    let notes: [String]
    let isComplete: Bool
    /// The hop and the start of the attempt that produced the response, until the history is complete.
    let hop: Int
    let start: Duration

    init(
        _ attempts: [NetworkError.Attempt], notes: [String] = [], isComplete: Bool, hop: Int = 0,
        start: Duration = .zero
    ) {
        self.attempts = attempts
        self.notes = notes
        self.isComplete = isComplete
        self.hop = hop
        self.start = start
    }
}

extension HTTPResponse {
    /// The attempts of the call, oldest first. The last one produced this response.
    ///
    /// The list is complete in a pipeline with `.retry()`. For a response to the first attempt, it has one entry, with
    /// the duration that the transport measured. At most the last 100 attempts are kept.
    public var attempts: [NetworkError.Attempt] {
        get { NetworkError.Attempt.all(history, status, metrics) }
        set { history = AttemptHistory(newValue, isComplete: true) }
    }

    /// The events recorded for the attempt that produced this response, until they are part of `attempts`.
    var notes: [String] { history?.notes ?? [] }

    /// Records an event of the attempt that produced this response, such as `waited 12 ms for a slot`.
    package mutating func note(_ text: String) {
        history = AttemptHistory(history?.attempts ?? [], notes: notes + [text], isComplete: false)
    }

    /// Inserts the attempts of earlier hops before the attempt that produced this response, unless earlier attempts are
    /// already recorded.
    mutating func follow(_ past: [NetworkError.Attempt], hop: Int, start: Duration) {
        guard history.map({ $0.attempts.isEmpty && !$0.isComplete }) ?? true else { return }
        history = AttemptHistory(past, notes: notes, isComplete: false, hop: hop, start: start)
    }
}

extension NetworkError.Attempt {
    static let maximumKept = 100

    static func all(_ history: AttemptHistory?, _ status: HTTPStatus, _ metrics: ExchangeMetrics) -> [Self] {
        let past = history?.attempts ?? []
        if let history, history.isComplete { return past }
        let last = NetworkError.Attempt(
            number: (past.last?.number ?? 0) + 1, hop: history?.hop ?? 0, start: history?.start ?? .zero,
            duration: metrics.total ?? metrics.firstByte ?? .zero, outcome: .status(status),
            notes: history?.notes ?? [])
        return past.adding(last)
    }
}

extension [NetworkError.Attempt] {
    /// Returns these attempts followed by `attempt`. Of more than `maximumKept` attempts, the oldest are dropped.
    func adding(_ attempt: NetworkError.Attempt) -> [NetworkError.Attempt] {
        (self + [attempt]).suffix(NetworkError.Attempt.maximumKept)
    }
}
