// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension CallTracer {
    /// The settings of a tracer.
    public struct Options: Sendable {
        /// The rule for traces that a call starts. Default `.always`.
        public var sampler: TraceSampler
        /// The rule that decides which origins receive the context and the baggage. Default: the origins that the app
        /// addresses receive the context, and none receives baggage.
        public var propagation: TracePropagation
        /// Returns the context that a call continues, where the app does not use `TraceContext.with(_:_:)`. Called once
        /// for each call, on its task; it must return soon. If it is nil, the default, or returns nil,
        /// `TraceContext.current` is used.
        public var parent: (@Sendable () -> TraceContext?)?
        /// The secrets to redact, in addition to those that the client and its interceptors declare. Default
        /// `.standard`. URLs are always redacted with `.standard` in addition.
        public var redaction: Redaction
        /// Whether spans have the attribute `user_agent.original`. Default false.
        public var recordsUserAgent: Bool
        /// The methods that `http.request.method` and the names of spans contain. Any other is `_OTHER`, and is in
        /// `http.request.method_original`. Default `standardMethods`.
        public var knownMethods = standardMethods
        /// The maximum number of open calls, and of open requests. Default 2,048.
        public var maximumOpen: Int
        /// The source of identifiers: 64 random bits for each call. Default the random numbers of the system.
        public var random: @Sendable () -> UInt64

        /// The methods that the conventions know since version 1.38.0: those of RFC 9110, PATCH, and QUERY.
        public static let standardMethods: Set<HTTPMethod> = [
            .connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace,
        ]

        /// Creates options. Omitted parameters have the defaults.
        public init(
            sampler: TraceSampler = .always, propagation: TracePropagation = TracePropagation(),
            parent: (@Sendable () -> TraceContext?)? = nil, redaction: Redaction = .standard,
            recordsUserAgent: Bool = false, maximumOpen: Int = 2048,
            random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) }
        ) {
            self.sampler = sampler
            self.propagation = propagation
            self.parent = parent
            self.redaction = redaction
            self.recordsUserAgent = recordsUserAgent
            self.maximumOpen = maximumOpen
            self.random = random
        }
    }

    /// The counts of a tracer since it was created.
    public struct Statistics: Hashable, Sendable {
        /// The number of spans that ended.
        public var ended: Int
        /// The number of calls and requests that were dropped, because too many were open.
        public var dropped: Int
        /// The number of calls and requests that are open now.
        public var open: Int

        /// Creates counts, for tests.
        public init(ended: Int = 0, dropped: Int = 0, open: Int = 0) {
            self.ended = ended
            self.dropped = dropped
            self.open = open
        }
    }
}
