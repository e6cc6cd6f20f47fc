// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The waits between connections: a value, without any I/O.
struct ReconnectionDelay: Sendable {
    /// The time after which an open connection counts as working, even without useful data.
    static let stableTime = Duration.seconds(10)
    /// The maximum wait that a server can request.
    private static let maximumRequest = Duration.seconds(86_400)
    /// The shortest wait that a server can request, and the shortest upper bound after a failure. Otherwise a server
    /// that sends `retry: 0` and ends each connection would receive requests without a pause.
    private static let minimumRequest = Duration.milliseconds(100)

    private let initial: Duration
    private let cap: Duration
    /// The reconnection time that the server sent.
    private var requested: Duration?
    private(set) var failures = 0

    /// - `maximum`: the upper bound of the random wait.
    init(initial: Duration, maximum: Duration) {
        self.initial = max(.zero, initial)
        cap = max(Self.minimumRequest, maximum)
    }

    mutating func request(milliseconds: Int64) {
        requested = min(max(.milliseconds(milliseconds), Self.minimumRequest), Self.maximumRequest)
    }

    mutating func succeed() {
        failures = 0
    }

    mutating func fail() {
        failures += 1
    }

    /// Returns the next wait: after a working connection, the reconnection time; after failures, a random wait whose
    /// upper bound doubles. It is never shorter than what the server requests.
    ///
    /// - `random`: a uniformly distributed number in 0..<1.
    func wait(retryAfter: Duration?, random: Double) -> Duration {
        let base = requested ?? initial
        var wait = base
        if failures > 0 {
            let factor = Int64(1) << min(failures - 1, 40)
            let (product, overflow) = max(base, Self.minimumRequest).wholeNanoseconds
                .multipliedReportingOverflow(by: factor)
            let bound = min(cap, .nanoseconds(overflow ? .max : product))
            let low = requested ?? .zero
            wait = low + .nanoseconds(Int64(Double(max(0, (bound - low).wholeNanoseconds)) * random))
        }
        return max(wait, min(retryAfter ?? .zero, Self.maximumRequest))
    }
}

extension NetworkError {
    /// Whether a stream connects again after this error.
    var allowsReconnection: Bool {
        if case .status(let status) = reason, status.isServerError { return true }
        return isRetryable
    }
}
