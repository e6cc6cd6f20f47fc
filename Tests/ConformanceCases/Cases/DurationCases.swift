// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for the measurements of an exchange that times out or is cancelled: the total is the time that passed, and it
/// belongs to the phase in which the exchange ended.
enum DurationCases {
    static let all = ends.flatMap { end in [false, true].map { end.conformanceCase(cancelled: $0) } }

    private static let ends = [
        End(place: "in the handshake", .total, .connecting, .stalled(.beforeRequestRead), scheme: "https"),
        End(place: "while the server reads nothing", .idle, .firstByte, .stalled(.beforeRequestRead), body: 30_000_000),
        End(place: "before the head", .firstByte, .firstByte, .stalled(.beforeHead)),
        End(place: "before the head that follows a body", .firstByte, .firstByte, .stalled(.beforeHead), body: 100),
        End(place: "inside the body", .idle, .transfer, .stalled(.afterBytes(100_000))),
        End(place: "while it waits for the whole call", .total, .firstByte, .late),
    ]

    private struct End {
        enum Answer { case stalled(MockResponse.Stage), late }
        enum Phase { case connecting, firstByte, transfer }

        let place: String
        let reason: NetworkError.Phase
        let phase: Phase
        let answer: Answer
        let scheme: String
        let bodySize: Int

        init(
            place: String, _ reason: NetworkError.Phase, _ phase: Phase, _ answer: Answer, scheme: String = "http",
            body: Int = 0
        ) {
            (self.place, self.reason, self.phase, self.answer) = (place, reason, phase, answer)
            (self.scheme, self.bodySize) = (scheme, body)
        }

        func conformanceCase(cancelled: Bool) -> ConformanceCase {
            ConformanceCase(
                "an exchange that \(cancelled ? "is cancelled" : "times out") \(place) measures that time",
                cancelled ? .cancellation : .timeouts, rule: "ExchangeMetrics"
            ) { trial in
                let limit = Duration.milliseconds(150)
                let response = MockResponse.generated(bytes: 200_000)
                let server = try trial.server()
                switch answer {
                case .stalled(let stage): server.enqueue(response.stalled(at: stage))
                case .late: server.enqueue(response.delayed(by: .seconds(60)))
                }
                let observer = MeasurementObserver()
                let start = SuspendingClock.now
                let exchange = Task {
                    try await trial.exchange(
                        bodySize > 0 ? .put : .get, "\(scheme)://127.0.0.1:\(server.port)/",
                        body: bodySize > 0 ? .bytes(Data(count: bodySize)) : .empty,
                        timeouts: cancelled ? .none : .only(reason, limit), observers: [observer]
                    ).data()
                }
                if cancelled {
                    // The phase has to begin first, however busy the machine is.
                    try await trial.eventually("the phase began") {
                        server.connectionCount > 0 && (phase != .transfer || server.sentBytes > 100_000)
                    }
                    let since = SuspendingClock.now
                    // It may begin for the transport a moment after that.
                    try await trial.eventually("time passed") { SuspendingClock.now - since >= limit * 2 }
                    exchange.cancel()
                }
                try await trial.expectFailure(cancelled ? .cancelled : .timedOut(reason)) {
                    _ = try await exchange.value
                }
                try await trial.eventually("the exchange was measured") { observer.metrics != nil }
                let elapsed = SuspendingClock.now - start
                let metrics = observer.metrics ?? ExchangeMetrics()
                try check(metrics, limit - .milliseconds(20), elapsed, trial)
            }
        }

        private func check(
            _ metrics: ExchangeMetrics, _ least: Duration, _ elapsed: Duration, _ trial: ConformanceTrial
        ) throws {
            let total = metrics.total ?? .zero
            let measured: Duration? =
                switch phase {
                // Not every transport separates TCP from TLS before both have ended, or both from what follows.
                case .connecting: metrics.connect.map { $0 + (metrics.secureConnect ?? .zero) } ?? metrics.firstByte
                case .firstByte: metrics.firstByte
                case .transfer: metrics.transfer
                }
            try trial.expect(total >= least && total <= elapsed, "the total is \(total) of \(elapsed): \(metrics)")
            try trial.expect(measured ?? .zero >= least, "its phase took \(measured ?? .zero): \(metrics)")
            let phases = [
                metrics.queue, metrics.nameLookup, metrics.connect, metrics.secureConnect, metrics.firstByte,
                metrics.transfer,
            ].reduce(Duration.zero) { $0 + ($1 ?? .zero) }
            try trial.expect(phases <= total + .milliseconds(1), "all phases took \(phases) of \(total): \(metrics)")
        }
    }
}

private final class MeasurementObserver: RequestObserver {
    private let last = Locked<ExchangeMetrics?>(nil)

    var metrics: ExchangeMetrics? { last.withLock { $0 } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        if case .measured(let metrics) = event { last.withLock { $0 = metrics } }
    }
}

extension Timeouts {
    /// Returns timeouts that limit only this phase.
    static func only(_ phase: NetworkError.Phase, _ limit: Duration) -> Timeouts {
        var timeouts = Timeouts.none
        switch phase {
        case .connect: timeouts.connect = limit
        case .firstByte: timeouts.firstByte = limit
        case .idle: timeouts.idle = limit
        default: timeouts.total = limit
        }
        return timeouts
    }
}
