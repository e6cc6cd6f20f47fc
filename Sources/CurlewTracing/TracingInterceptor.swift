// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Writes the context of each request into its fields, and passes the events of calls to a tracer. For the rules, see
/// `.tracing(_:)`.
struct TracingInterceptor: Interceptor, EventSink {
    let tracer: CallTracer

    /// The placement is `.fields`: after authentication, so that the request after a refreshed credential has its own
    /// context, and before signing, so that signatures cover the fields. Responses do not depend on a trace.
    var traits: InterceptorTraits {
        var traits = InterceptorTraits(.fields)
        traits.uniqueKind = ("tracings", "each call has two spans")
        traits.sink = self
        return traits
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        var context = next.context
        let wire = tracer.send(&request, in: context)
        context.facts[WireSpanKey.self] = wire
        return tracer.watch(try await next(request, context: context), of: wire, in: context)
    }

    var detail: CallEvent.Detail { .connections }

    func receive(_ event: CallEvent, in context: ExchangeContext) {
        tracer.receive(event, in: context)
    }
}

extension TracingInterceptor: CustomStringConvertible {
    /// The name of the interceptor and its sampler, such as `Tracing(always)`.
    var description: String { "Tracing(\(tracer.options.sampler))" }
}
