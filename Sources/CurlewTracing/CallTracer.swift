// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Records the calls of clients as spans of a trace, and passes each finished span to an exporter.
///
///     let tracer = CallTracer(exporter: exporter)
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.tracing(tracer)))
///
/// - A sampled call is a span of the kind `internal`. Each of its requests on the wire is a child of the kind `client`,
///   whose identifier is sent in `traceparent`: a retry, a redirect, a second request of hedging and the request after
///   a refreshed credential have spans of their own, with a link to the request before them.
/// - The span of a request ends when its body has ended, also when the caller streams it or cancels the call. A body
///   that breaks off is an error of the request, also after the call has returned. The span of a call ends with the
///   call.
/// - A response from a cache creates no span of a request, and a call that shares the exchange of another has a link to
///   the span of that call.
/// - A refresh of tokens is a call with spans of its own, and a child of the call that started it, although other calls
///   may wait for the refresh, too. Its requests do not pass the interceptor, so they have no `traceparent`.
/// - A call whose request cannot be built creates no span.
///
/// Several clients may share a tracer, which keeps at most 2,048 open calls and as many open requests. Beyond that, the
/// oldest is not exported, and is counted in `Statistics.dropped`.
public final class CallTracer: Sendable {
    /// The options with which the tracer was created.
    public let options: Options
    private let exporter: any TraceSpanExporter
    private let attributes: SpanAttributes
    private let spans: Locked<OpenSpans>

    /// Creates a tracer whose finished spans `exporter` receives.
    public init(exporter: any TraceSpanExporter, options: Options = Options()) {
        self.exporter = exporter
        self.options = options
        attributes = SpanAttributes(
            redaction: options.redaction, recordsUserAgent: options.recordsUserAgent, methods: options.knownMethods)
        spans = Locked(OpenSpans(limit: options.maximumOpen))
    }

    /// The numbers of ended, dropped and open spans.
    public var statistics: Statistics {
        spans.withLock {
            Statistics(ended: $0.ended, dropped: $0.dropped, open: $0.open)
        }
    }

    // MARK: - Sending

    /// Chooses the identifiers of a request, and writes them into its fields where the origin may receive them.
    func send(_ request: inout HTTPRequest, in context: ExchangeContext) -> WireSpan {
        let trail = spans.withLock { $0.trail(of: context.id) }
        // An interceptor may have set another context than the app.
        let isOther = trail == nil || trail?.received != request.headers[values: "Traceparent"]
        let parent =
            (isOther ? TraceContext(headers: request.headers) : nil) ?? trail?.context ?? options.parent?()
            ?? TraceContext.current
        let own = child(of: parent)
        if options.allowsContext(for: request.origin, in: context) {
            own.write(to: &request.headers)
        } else {
            TraceContext.remove(from: &request.headers)
        }
        return WireSpan(call: context.id, context: own, parent: parent?.spanID)
    }

    /// Returns the context of an operation within `parent`, or of the first operation of a new trace.
    private func child(of parent: TraceContext?) -> TraceContext {
        if let parent { return parent.child(.random(options.random)) }
        let trace = TraceContext.TraceID.random(options.random)
        return TraceContext(
            traceID: trace, spanID: .random(options.random),
            flags: options.sampler.records(trace) ? [.sampled, .random] : .random)
    }

    /// Returns the response with a body whose end is recorded, unless it is in memory.
    func watch(_ response: HTTPResponse, of wire: WireSpan, in context: ExchangeContext) -> HTTPResponse {
        guard wire.context.isSampled, !response.body.isAtHand else { return response }
        let sent = spans.withLock { $0.beginBody(of: wire.context, in: wire.call) }
        let redaction = attributes.redaction(in: context)
        var response = response
        response.body = response.body.onEnd { [self] end in
            var failure: SpanFailure?
            var isWhole = true
            switch end {
            case .complete: break
            case .failed(let error): failure = SpanFailure(NetworkError(error), redaction)
            case .dropped: isWhole = false
            }
            export(spans.withLock { $0.endBody(of: sent, failure, isWhole: isWhole) })
        }
        return response
    }

    // MARK: - Events

    /// Records an event of a call. The lock is held only while tables change.
    func receive(_ event: CallEvent, in context: ExchangeContext) {
        switch event {
        case .began(let request): begin(request, context)
        case .sent(let request): sent(request, context)
        case .other(.joined(let other)): join(other, context)
        case .other(.connecting(let phase)):
            let (name, attributes) = SpanAttributes.event(phase)
            add(name, attributes, context)
        case .other(.interim(let status, _)):
            add("response.interim", [.init("http.response.status_code", .int(Int64(status.code)))], context)
        case .answered(let response):
            spans.withLock { spans in
                spans.change(in: context) { span, time in
                    SpanAttributes.write(response.status, to: &span)
                    span.add(TraceSpan.Event("response.head", time: time))
                }
            }
        case .attemptFailed(let error):
            let failure = SpanFailure(error, attributes.redaction(in: context))
            spans.withLock { spans in spans.change(in: context) { span, _ in failure.write(to: &span) } }
        case .other(.tried(let attempt)): add("attempt", detail("\(attempt)", context), context)
        case .other(.feature(let event)):
            add(event.name.clipped(to: 100).printable, detail("\(event)", context), context)
        case .other(.warned(let warning)): add("warning", detail("\(warning)", context), context)
        case .ended(_, _, _, _, let metrics):
            export(
                spans.withLock { spans in
                    spans.endRequest(in: context) { SpanAttributes.write(metrics, to: &$0) }
                })
        case .succeeded: export(spans.withLock { $0.endCall(in: context, nil) })
        case .failed(_, let error, _, _):
            let failure = SpanFailure(error, attributes.redaction(in: context))
            export(spans.withLock { $0.endCall(in: context, failure) })
        case .other: break
        }
    }

    private func begin(_ request: HTTPRequest, _ context: ExchangeContext) {
        let cause = context.cause.flatMap { cause in spans.withLock { $0.trail(of: cause)?.context } }
        let parent = TraceContext(headers: request.headers) ?? cause ?? options.parent?() ?? TraceContext.current
        let own = child(of: parent)
        let trail = OpenSpans.Trail(context: own, received: request.headers[values: "Traceparent"])
        let clock = SpanClock(context.time)
        let span = attributes.call(request, own, parent?.spanID, in: context, at: clock.time(context.time.now))
        spans.withLock { $0.begin(OpenSpans.Call(span: span, clock: clock, trail: trail), id: context.id) }
    }

    private func sent(_ request: HTTPRequest, _ context: ExchangeContext) {
        guard let number = context.requestNumber else { return }
        let found = context.facts[WireSpanKey.self]
        // A call on behalf of another one may carry the facts of that call.
        let wire = found?.call == context.id ? found : nil
        if wire?.context.isSampled == false { return }
        let list = attributes.request(request, in: context)
        let name = attributes.name(of: request, in: context)
        let spare = TraceContext.SpanID.random(options.random)
        let now = context.time.now
        spans.withLock { spans in
            let clock = spans.calls[context.id]?.clock ?? SpanClock(context.time)
            spans.begin(
                { own, parent in
                    var span = TraceSpan(name, kind: .client, context: own, parent: parent, start: clock.time(now))
                    span.attributes = list
                    return span
                }, wire: wire, spare: spare, number: number, in: context)
        }
    }

    private func join(_ other: UInt64, _ context: ExchangeContext) {
        spans.withLock { spans in
            let shared = spans.trail(of: other)?.context
            spans.change(in: context) { span, time in
                span.add(TraceSpan.Event("joined", time: time))
                if let shared {
                    span.add(TraceSpan.Link(shared, attributes: [.init("curlew.link", .string("shared"))]))
                }
            }
        }
    }

    private func add(_ name: String, _ attributes: [TraceSpan.Attribute], _ context: ExchangeContext) {
        spans.withLock { spans in
            spans.change(in: context) { span, time in
                span.add(TraceSpan.Event(name, time: time, attributes: attributes))
            }
        }
    }

    /// Returns the description of an event as an attribute, redacted once more.
    private func detail(_ text: String, _ context: ExchangeContext) -> [TraceSpan.Attribute] {
        let text = attributes.redaction(in: context).text(text).clipped(to: 1000).printable
        return [TraceSpan.Attribute("curlew.detail", .string(text))]
    }

    private func export(_ spans: [TraceSpan]) {
        for span in spans { exporter.export(span) }
    }
}

extension CallTracer.Options {
    func allowsContext(for origin: Origin, in context: ExchangeContext) -> Bool {
        if !context.crossedOrigin || redirectOrigins.contains(origin) { return true }
        return context.pastOrigins.first?.shares(with: origin) ?? false
    }
}
