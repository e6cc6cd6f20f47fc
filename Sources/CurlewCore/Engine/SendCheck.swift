// SPDX-License-Identifier: MIT

/// A policy that is checked when a request leaves the pipeline, after all waits, and that can still refuse the request.
package protocol SendCheck: AnyObject, Sendable {
    /// The policy that is checked after this one; nil for the last one.
    var outer: (any SendCheck)? { get }

    /// Throws if the request must no longer be sent.
    ///
    /// - `context`: the context of the attempt, including the time that it has waited in queues of the pipeline.
    func leave(at now: SystemTime.Instant, in context: ExchangeContext) throws
}
