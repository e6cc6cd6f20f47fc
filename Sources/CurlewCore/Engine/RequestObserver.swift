// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Observes the events of a client, without being able to change calls.
///
/// There is one method and one enum instead of a method per event: an observer switches over the events it needs. A
/// client without observers has no cost for events.
///
/// - The client calls `record` on its dispatch queue for observers: one event at a time, for all of its calls, in the
///   order of recording. It is never called on a thread of a transport. A slow observer delays only the later events
///   and the end of the calls that they belong to.
/// - The events of a call arrive in the order that `ExchangeEvent` documents. `send` returns or throws when they have
///   been delivered. It waits five seconds at most; a slower observer receives the rest later.
/// - At most 16,384 events wait for slow observers. Beyond that, the newest are dropped and counted
///   (`ExchangeEvent.lost`).
public protocol RequestObserver: Sendable {
    /// Records one event. `context` describes the moment of the event: the attempt, the redirects, and the request on
    /// the wire.
    func record(_ event: ExchangeEvent, in context: ExchangeContext)
}

/// An event in the course of a call.
///
/// The order, for each call (`ExchangeContext.id`):
///
/// 1. `began`, unless the request could not be built; then `failed` is the only event.
/// 2. For each request on the wire (`ExchangeContext.requestNumber`): `sent`, any number of `connecting` and `interim`,
///    then either `answered`, and `trailers` if there are any, or `attemptFailed`; then `measured`, once. `warned`
///    occurs between `sent` and `measured`. The two requests of a hedged attempt overlap.
/// 3. Between them, the decisions: `tried` after the outcome that it reports, `joined`, and the events of
///    capabilities (`feature`).
/// 4. `succeeded` or `failed`, once.
///
/// Responses in events include bodies that arrived with their heads, up to 16 KiB. Other bodies belong to their readers
/// and are empty here.
///
/// The following events may occur after that: `trailers` and `measured` of a body that the caller streams, before
/// `withResponse` returns; events of a capability that says so; and, where calls share exchanges, the events of a
/// request that other calls still wait for when the call that started it has ended.
@nonexhaustive
public enum ExchangeEvent: Sendable {
    /// The call begins. The request is the one before interceptors.
    case began(HTTPRequest)
    /// The call sends no request. It receives the response to an equal request of another call, which has this
    /// `ExchangeContext.id`. The events of that request have that identifier, also after that call has ended.
    case joined(UInt64)
    /// The transport has received the request of one attempt, in its final form.
    case sent(HTTPRequest)
    /// The transport opens a connection for the request, or has one. The order of the phases is that of
    /// `ExchangeEvent.ConnectionPhase`. Not every transport reports this event.
    case connecting(ExchangeEvent.ConnectionPhase)
    /// An interim response (1xx, RFC 9110 §15.2) arrived before the head, such as 103 with early hints. There may be
    /// several; 101 is a final response.
    case interim(HTTPStatus, HTTPHeaders)
    /// The response head of one attempt has arrived.
    case answered(HTTPResponse)
    /// One attempt ended without a response.
    case attemptFailed(NetworkError)
    /// One attempt has ended and its outcome is not simply returned to the caller. Includes the decision and its
    /// reason.
    case tried(Attempt)
    /// An event that a capability defines: `Redirect.Event`, `CookieStore.Event`, `CacheEvent`, `PolicyNotice`.
    case feature(any FeatureEvent)
    /// The trailer fields of one attempt (RFC 9110 §6.5). Recorded only for a complete body, and before its reader
    /// reaches the end. They are not part of the response's header fields.
    case trailers(HTTPHeaders)
    /// The request of one attempt has ended: its body is complete, has broken off or was cancelled, or there was no
    /// response. Includes everything that the transport measured; `queue` includes waits in queues of the pipeline. For
    /// a transport that measures nothing, and for a cancelled body, the times up to this event.
    case measured(ExchangeMetrics)
    /// This number of events was dropped before this one, because observers were too slow.
    case lost(Int)
    /// The transport noticed a problem that does not fail the call, such as pins that expire soon.
    case warned(TransportWarning)
    /// The call ended with a response for the caller, after this time.
    case succeeded(HTTPResponse, after: Duration)
    /// The call ended with an error for the caller, after this time.
    case failed(NetworkError, after: Duration)
}

extension ExchangeEvent {
    /// The event without a body that the caller reads, because a queued event must not hold a connection.
    var withoutTransfer: ExchangeEvent {
        switch self {
        case .answered(let response): .answered(response.withoutTransfer)
        case .succeeded(let response, let duration): .succeeded(response.withoutTransfer, after: duration)
        case .feature(let event as any CapabilityEvent): .feature(event.withoutTransfer)
        default: self
        }
    }

    /// The event with the secrets that a client and its interceptors declare, so that its texts are redacted.
    func withholding(_ secrets: DeclaredSecrets) -> ExchangeEvent {
        guard !secrets.isEmpty else { return self }
        func knowing(_ headers: HTTPHeaders) -> HTTPHeaders {
            var headers = headers
            secrets.declare(in: &headers)
            return headers
        }
        return switch self {
        case .began(let request): .began(request.knowing(secrets))
        case .sent(let request): .sent(request.knowing(secrets))
        case .interim(let status, let headers): .interim(status, knowing(headers))
        case .answered(let response): .answered(response.withholding(secrets))
        case .attemptFailed(let error): .attemptFailed(error.withholding(secrets))
        case .trailers(let headers): .trailers(knowing(headers))
        case .succeeded(let response, let duration): .succeeded(response.withholding(secrets), after: duration)
        case .failed(let error, let duration): .failed(error.withholding(secrets), after: duration)
        case .feature(let event as any CapabilityEvent): .feature(event.withholding(secrets))
        case .joined, .connecting, .tried, .feature, .measured, .lost, .warned: self
        }
    }
}
