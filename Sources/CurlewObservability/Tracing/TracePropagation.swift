// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A rule that decides which origins receive the trace context and the baggage of a call.
///
/// - The origin that the app addresses with a call receives `traceparent` and `tracestate`.
/// - Another origin, to which a server redirects the call, receives neither, unless `redirectOrigins` contains it. The
///   identifiers are not secret, but `tracestate` may be, and identifiers let that origin correlate requests.
/// - Baggage is sent only to origins in `baggageOrigins`, and never once a redirect has left the origin of the call.
///   By default, no origin receives baggage.
///
/// A redirect from http to https on the default ports of the same host does not end the propagation of the context.
public struct TracePropagation: Hashable, Sendable {
    /// Whether any request has a context. False records traces without sending their identifiers. Default true.
    public var sendsContext: Bool
    /// The further origins that receive the context after a redirect. Default none.
    public var redirectOrigins: Set<Origin>
    /// The origins that receive baggage. Default none.
    public var baggageOrigins: Set<Origin>

    /// Creates a rule. Omitted parameters have the defaults.
    public init(
        sendsContext: Bool = true, redirectOrigins: Set<Origin> = [], baggageOrigins: Set<Origin> = []
    ) {
        self.sendsContext = sendsContext
        self.redirectOrigins = redirectOrigins
        self.baggageOrigins = baggageOrigins
    }
}
