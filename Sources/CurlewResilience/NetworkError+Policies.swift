// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// The circuit breaker refused the call because the circuit is open: its calls failed too often recently.
    /// `retryAfter` is the time until the next trial is allowed.
    public static let circuitBreaker = NetworkError.Policy(
        "circuitBreaker", message: "The service is not available right now.", mayPass: true, isOfServer: true)
    /// The rate limit refused the call: no token becomes available before the deadline, the server's quota is exhausted
    /// until after the deadline, or too many calls already wait.
    public static let rateLimit = NetworkError.Policy(
        "rateLimit", message: "There were too many requests.", mayPass: true)
    /// The concurrency limit refused the call: too many calls already wait for a permit, or the call received its
    /// permit with less time left than a typical call takes. A call whose deadline passes in the queue fails with
    /// `.timedOut(.queue)` instead.
    public static let concurrencyLimit = NetworkError.Policy(
        "concurrencyLimit", message: "There were too many requests.", mayPass: true)
}
