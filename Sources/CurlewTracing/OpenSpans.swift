// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The identifiers that one request on the wire was sent with. They travel with its context.
struct WireSpan: Sendable {
    /// The call that the request belongs to.
    let call: UInt64
    /// The context of the request: that of its `traceparent`, where it was sent.
    let context: TraceContext
    /// The span that the request is a child of; nil if it starts the trace.
    let parent: TraceContext.SpanID?
}

enum WireSpanKey: FactKey {
    static let defaultValue: WireSpan? = nil
}

/// A wall clock that follows the monotonic clock, so that durations in a trace are exact.
struct SpanClock: Sendable {
    private let epoch: Int64
    private let instant: SystemTime.Instant

    init(_ time: any TimeSource) {
        instant = time.now
        let nanoseconds = time.date.timeIntervalSince1970 * 1e9
        epoch = nanoseconds > 0 && nanoseconds < 9e18 ? Int64(nanoseconds) : 0
    }

    /// Returns the time in nanoseconds since 1970.
    func time(_ now: SystemTime.Instant) -> UInt64 {
        let (sum, overflow) = epoch.addingReportingOverflow(instant.duration(to: now).wholeNanoseconds)
        return overflow || sum < 0 ? UInt64(epoch) : UInt64(sum)
    }
}

/// The spans of calls and requests that have begun and not ended, and the contexts of calls that have ended recently.
///
/// Every table is bounded: where ends are missing, the oldest span makes room and is counted.
struct OpenSpans: Sendable {
    /// The trace context that the requests of a call inherit.
    struct Trail: Sendable {
        let context: TraceContext
        /// The fields `traceparent` of the request as the app built it.
        let received: [String]
    }

    struct Call: Sendable {
        var span: TraceSpan
        let clock: SpanClock
        let trail: Trail
        /// The last request on the wire so far.
        var last: Sent?
        /// The last request that has ended. It waits for the end of the call, which may report an error of its body.
        var ended: TraceSpan?
    }

    /// The state of a request whose body is still being read.
    enum Body: Sendable {
        case open
        /// The request has ended. Its span waits for the end of the body, which may be an error.
        case ended(TraceSpan, call: UInt64)
        /// The body has broken off, and the request has not ended.
        case failed(SpanFailure)
    }

    struct Sent: Sendable {
        let context: TraceContext
        /// The context of its fields, which two requests share if an interceptor closer to the transport sent both.
        let wire: TraceContext?
        let hop: Int
        let attempt: Int
        let number: Int
    }

    struct Request: Sendable {
        var span: TraceSpan
        let clock: SpanClock
    }

    struct RequestKey: Hashable, Sendable {
        let call: UInt64
        let number: Int
    }

    var calls: BoundedTable<UInt64, Call>
    var requests: BoundedTable<RequestKey, Request>
    /// The streamed bodies, by the identifier of their request.
    var bodies: BoundedTable<UInt64, Body>
    /// Calls may share the exchange of a call that has ended, so its requests still need its context.
    var recent = BoundedTable<UInt64, Trail>(limit: 256)
    var ended = 0
    /// The number of spans that were dropped because they did not end.
    var dropped = 0

    init(limit: Int) {
        calls = BoundedTable(limit: limit)
        requests = BoundedTable(limit: limit)
        bodies = BoundedTable(limit: limit)
    }

    /// The number of spans that have begun and were not passed to the exporter.
    var open: Int { calls.count + requests.count }

    func trail(of call: UInt64) -> Trail? { calls[call]?.trail ?? recent[call] }

    mutating func begin(_ call: Call, id: UInt64) {
        guard let oldest = calls.insert(call, for: id) else { return }
        dropped += 1
        if oldest.ended != nil { lose() }
    }

    /// Counts a span that had ended, and is dropped before the exporter receives it.
    private mutating func lose() {
        ended -= 1
        dropped += 1
    }

    /// Begins the span of a request, with a link to the request before it in the same call.
    ///
    /// - `wire`: the identifiers that the request was sent with; nil if it did not pass the interceptor.
    /// - `spare`: an identifier for a request without one of its own.
    mutating func begin(
        _ span: (TraceContext, TraceContext.SpanID?) -> TraceSpan, wire: WireSpan?, spare: TraceContext.SpanID,
        number: Int, in context: ExchangeContext
    ) {
        let call = calls[context.id]
        guard var own = wire?.context ?? trail(of: context.id)?.context.child(spare), own.isSampled else { return }
        // An interceptor closer to the transport has sent the request once more, with the same fields.
        if own.spanID == call?.last?.context.spanID { own = own.child(spare) }
        var span = span(own, wire == nil ? trail(of: context.id)?.context.spanID : wire?.parent)
        if number > 1 { span["http.request.resend_count"] = .int(Int64(number - 1)) }
        if let last = call?.last {
            let isOpen = requests[RequestKey(call: context.id, number: last.number)] != nil
            let relation =
                context.hop > last.hop
                ? "redirect" : context.attempt > last.attempt ? "retry" : isOpen ? "hedge" : "resend"
            span.add(TraceSpan.Link(last.context, attributes: [TraceSpan.Attribute("curlew.link", .string(relation))]))
        }
        let sent = Sent(
            context: own, wire: wire?.context, hop: context.hop, attempt: context.attempt, number: number)
        let clock = calls.change(context.id) { call in
            call.last = sent
            return call.clock
        }
        let request = Request(span: span, clock: clock ?? SpanClock(context.time))
        if requests.insert(request, for: RequestKey(call: context.id, number: number)) != nil { dropped += 1 }
    }

    /// Changes the span that an event belongs to: that of its request, or that of its call.
    mutating func change(in context: ExchangeContext, _ change: (inout TraceSpan, UInt64) -> Void) {
        let now = context.time.now
        if let number = context.requestNumber {
            requests.change(RequestKey(call: context.id, number: number)) { change(&$0.span, $0.clock.time(now)) }
        } else {
            calls.change(context.id) { call in
                if call.span.context.isSampled { change(&call.span, call.clock.time(now)) }
            }
        }
    }

    /// Ends the span of a request. Returns the spans that are complete.
    mutating func endRequest(in context: ExchangeContext, _ change: (inout TraceSpan) -> Void) -> [TraceSpan] {
        guard let number = context.requestNumber,
            var request = requests.remove(RequestKey(call: context.id, number: number))
        else { return [] }
        change(&request.span)
        request.span.end = max(request.span.start, request.clock.time(context.time.now))
        ended += 1
        switch bodies[request.span.context.spanID.rawValue] {
        case .open, .ended:
            keep(.ended(request.span, call: context.id), request.span.context)
            return []
        case .failed(let failure):
            _ = bodies.remove(request.span.context.spanID.rawValue)
            if request.span.status == .unset { failure.write(to: &request.span) }
        case nil: break
        }
        return hold(request.span, for: context.id)
    }

    /// Keeps the last span of a call until the call ends. Returns the spans that are complete.
    private mutating func hold(_ span: TraceSpan, for call: UInt64) -> [TraceSpan] {
        let before = calls.change(call) { call -> TraceSpan? in
            defer { call.ended = span }
            return call.ended
        }
        guard let before else { return [span] }
        return before.map { [$0] } ?? []
    }

    private mutating func keep(_ body: Body, _ context: TraceContext) {
        if case .ended = bodies.insert(body, for: context.spanID.rawValue) { lose() }
    }

    /// Records that the body of the last request with these fields will be read, so that its span waits for the end of
    /// the body. Returns the context of that request.
    mutating func beginBody(of wire: TraceContext, in call: UInt64) -> TraceContext {
        let last = calls[call]?.last
        let context = last?.wire?.spanID == wire.spanID ? last?.context ?? wire : wire
        let span = calls.change(call) { call -> TraceSpan? in
            guard let span = call.ended, span.context.spanID == context.spanID else { return nil }
            call.ended = nil
            return span
        }
        keep((span ?? nil).map { .ended($0, call: call) } ?? .open, context)
        return context
    }

    /// Records the end of a body. Returns the spans that are complete.
    ///
    /// - `failure`: the error of the body; nil if it is complete or was dropped.
    /// - `isWhole`: false if the reader has left the body. Then the call may still report why.
    mutating func endBody(of context: TraceContext, _ failure: SpanFailure?, isWhole: Bool) -> [TraceSpan] {
        guard let body = bodies.remove(context.spanID.rawValue) else { return [] }
        guard case .ended(var span, let call) = body else {
            if let failure { keep(.failed(failure), context) }
            return []
        }
        if let failure, span.status == .unset { failure.write(to: &span) }
        return failure == nil && !isWhole ? hold(span, for: call) : [span]
    }

    /// Ends the span of a call. Returns the spans that are complete.
    ///
    /// - `failure`: the error of the call; nil after a success.
    mutating func endCall(in context: ExchangeContext, _ failure: SpanFailure?) -> [TraceSpan] {
        guard var call = calls.remove(context.id) else { return [] }
        _ = recent.insert(call.trail, for: context.id)
        guard call.span.context.isSampled else { return [] }
        failure?.write(to: &call.span)
        call.span["curlew.requests"] = .int(Int64(call.last?.number ?? 0))
        call.span.end = max(call.span.start, call.clock.time(context.time.now))
        ended += 1
        if failure != nil, call.ended == nil, let last = call.last?.context.spanID.rawValue,
            case .ended(let span, _) = bodies[last]
        {
            _ = bodies.remove(last)
            call.ended = span
        }
        guard var last = call.ended else { return [call.span] }
        // The body broke off after its head: only the end of the call reports that.
        if let failure, failure.isOfTransfer, last.status == .unset { failure.write(to: &last) }
        return [last, call.span]
    }
}
