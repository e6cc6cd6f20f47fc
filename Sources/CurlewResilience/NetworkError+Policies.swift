// SPDX-License-Identifier: MIT

public import CurlewCore

extension NetworkError.Policy {
    /// `.circuitBreaker()`: the origin failed too often recently. `retryAfter` is the time until the next attempt is
    /// allowed.
    public static let circuitBreaker = NetworkError.Policy(
        "circuitBreaker", message: "The service is not available right now.", mayPass: true, isOfServer: true)
    /// `.rateLimit(_:every:)`: no token becomes available before the deadline, or too many calls wait for one.
    public static let rateLimit = NetworkError.Policy(
        "rateLimit", message: "There were too many requests.", mayPass: true)
    /// `.concurrencyLimit(_:)`: too many calls wait for a permit, or the permit arrived when the call had less time
    /// left than a typical call takes. A deadline that passes in the queue is `.timedOut(.queue)`.
    public static let concurrencyLimit = NetworkError.Policy(
        "concurrencyLimit", message: "There were too many requests.", mayPass: true)
}
