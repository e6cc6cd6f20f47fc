// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    private let instant: MonotonicInstant

    init(_ time: any TimeSource) {
        instant = time.now
        let nanoseconds = time.date.timeIntervalSince1970 * 1e9
        epoch = nanoseconds > 0 && nanoseconds < 9e18 ? Int64(nanoseconds) : 0
    }

    /// Returns the time in nanoseconds since 1970.
    func time(_ now: MonotonicInstant) -> UInt64 {
        let (sum, overflow) = epoch.addingReportingOverflow(instant.duration(to: now).wholeNanoseconds)
        return overflow || sum < 0 ? UInt64(epoch) : UInt64(sum)
    }
}

/// The spans of calls and requests that have begun and not ended, and the contexts of calls that have ended recently.
///
/// Every table is bounded: where ends are missing, the oldest span makes room and is counted.
struct OpenSpans: Sendable {
    /// What the requests of a call take from it.
    struct Trail: Sendable {
        let context: TraceContext
        let baggage: TraceBaggage?
        /// The fields `traceparent` of the request as the app built it.
        let received: [String]
    }

    struct Call: Sendable {
        var span: TraceSpan
        let clock: SpanClock
        let trail: Trail
        /// The last request on the wire so far.
        var last: Sent?
        /// The last request that has ended. It waits for the end of the call, because only that event reports an error
        /// of the body.
        var ended: TraceSpan?
    }

    struct Sent: Sendable {
        let context: TraceContext
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
    /// Calls may share the exchange of a call that has ended, so its requests still need its context.
    var recent = BoundedTable<UInt64, Trail>(limit: 256)
    /// The number of spans that ended.
    var ended = 0
    /// The number of spans that were dropped because they did not end.
    var dropped = 0

    init(limit: Int) {
        calls = BoundedTable(limit: limit)
        requests = BoundedTable(limit: limit)
    }

    func trail(of call: UInt64) -> Trail? { calls[call]?.trail ?? recent[call] }

    mutating func begin(_ call: Call, id: UInt64) {
        dropped += calls.insert(call, for: id)
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
        let sent = Sent(context: own, hop: context.hop, attempt: context.attempt, number: number)
        let clock = calls.change(context.id) { call in
            call.last = sent
            return call.clock
        }
        let request = Request(span: span, clock: clock ?? SpanClock(context.time))
        dropped += requests.insert(request, for: RequestKey(call: context.id, number: number))
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
        let span = request.span
        let before = calls.change(context.id) { call -> TraceSpan? in
            defer { call.ended = span }
            return call.ended
        }
        guard let before else { return [span] }
        return before.map { [$0] } ?? []
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
        guard var last = call.ended else { return [call.span] }
        // The body broke off after its head: only the end of the call reports that.
        if let failure, failure.isOfTransfer, last.status == .unset { failure.write(to: &last) }
        return [last, call.span]
    }
}
