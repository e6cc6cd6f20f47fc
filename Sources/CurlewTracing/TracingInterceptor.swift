// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Writes the context of each request into its fields, and passes the events of calls to a tracer. For the rules, see
/// `.tracing(_:)`.
struct TracingInterceptor: Interceptor, ImmediateObserver {
    let tracer: CallTracer

    /// The placement `.fields`: after authentication, so that the request after a refreshed credential has its own
    /// context, and before signing, so that signatures cover the fields.
    var placement: Placement { .fields }

    /// False: a preview belongs to no trace.
    var runsInPreview: Bool { false }

    /// Returns `.anonymous`, because responses do not depend on a trace.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        var context = next.context
        let wire = tracer.send(&request, in: context)
        context.facts[WireSpanKey.self] = wire
        return tracer.watch(try await next(request, context: context), of: wire, in: context)
    }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        tracer.record(event, in: context)
    }
}

// The interceptor itself decides which origins receive its fields.
extension TracingInterceptor: ScopedInterceptor {}

extension TracingInterceptor: SoleInterceptor {
    var uniqueKind: UniqueKind { UniqueKind("tracings", "each call has two spans") }
}

extension TracingInterceptor: CustomStringConvertible {
    /// The name of the interceptor and its sampler, such as `Tracing(always)`.
    var description: String { "Tracing(\(tracer.options.sampler))" }
}
