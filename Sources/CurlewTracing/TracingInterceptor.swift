// SPDX-License-Identifier: MIT

public import CurlewCore
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

extension Interceptor where Self == BuiltInInterceptor {
    /// Traces calls by W3C Trace Context: `exporter` receives a span for each sampled call and for each of its requests
    /// on the wire, and each request carries `traceparent`, sampled or not. No other origin to which a server redirects
    /// a call receives the field, unless `CallTracer.Options.redirectOrigins` contains that origin.
    ///
    ///     .standard.adding(.tracing(to: exporter))
    ///
    /// The parameters are those of `CallTracer`, which documents the spans. To read the statistics of a tracer or to
    /// share one between clients, create a tracer and pass it to `.tracing(_:)`.
    public static func tracing(
        to exporter: any TraceSpanExporter, options: CallTracer.Options = CallTracer.Options()
    ) -> BuiltInInterceptor {
        tracing(CallTracer(exporter: exporter, options: options))
    }

    /// Traces calls with `tracer`.
    ///
    /// A call continues the trace of a valid `traceparent` in its request, which the interceptor replaces; otherwise
    /// the trace of `CallTracer.Options.parent`, that of `TraceContext.current`, or a new one.
    ///
    /// The interceptor is placed at `.fields`: after authentication, so that every request on the wire has its own
    /// context, and before signing, so that signatures cover the fields. With two of them in a pipeline, every call
    /// throws `.configuration`. The interceptor never affects which response a cache returns, and never throws.
    public static func tracing(_ tracer: CallTracer) -> BuiltInInterceptor {
        BuiltInInterceptor(TracingInterceptor(tracer: tracer))
    }
}
