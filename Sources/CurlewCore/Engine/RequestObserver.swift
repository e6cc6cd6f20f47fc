// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// Receives the events of a client, but cannot change its calls.
///
/// All events arrive in one method, so an observer switches over the cases that it needs. Events cost nothing in a
/// client without observers.
///
/// - The client calls `record` on a dispatch queue for all of its observers, never on a thread of a transport: one
///   event at a time, for all of its calls, in the order of recording. A slow observer delays only the later events and
///   the end of the calls that they belong to.
/// - The events of a call arrive in the order that `ExchangeEvent` documents. `send` returns or throws when they have
///   been delivered. It waits five seconds at most; a slower observer receives the rest later.
/// - At most 16,384 events wait for slow observers. Beyond that, new events are dropped and counted
///   (`ExchangeEvent.lost`).
public protocol RequestObserver: Sendable {
    /// Receives one event. `context` describes the moment of the event: the attempt, the redirects, and the request on
    /// the wire.
    func record(_ event: ExchangeEvent, in context: ExchangeContext)
}

/// An event of a call, such as its start, a request on the wire, or its end.
///
/// The events of one call (`ExchangeContext.id`) arrive in this order:
///
/// 1. `began`, unless the request could not be built; then `failed` is the only event.
/// 2. For each request on the wire (`ExchangeContext.requestNumber`): `sent`, any number of `connecting` and `interim`,
///    then either `answered`, and `trailers` if there are any, or `attemptFailed`; then `measured`, once. `warned`
///    occurs between `sent` and `measured`. The two requests of a hedged attempt overlap.
/// 3. Between these events, the decisions: `tried` after the outcome that it reports, `joined`, and the events of
///    capabilities (`feature`).
/// 4. `succeeded` or `failed`, once.
///
/// Responses in events include bodies that arrived with their heads, up to 16 KiB. All other bodies are empty in
/// events, because they belong to their readers.
///
/// The following events may occur after `succeeded` or `failed`: `trailers` and `measured` of a body that the caller
/// streams, before `withResponse` returns; events of a capability that says so; and, where calls share exchanges, the
/// events of a request that other calls still wait for when the call that started it has ended.
@nonexhaustive
public enum ExchangeEvent: Sendable {
    /// The call begins. Interceptors have not yet changed the request.
    case began(HTTPRequest)
    /// The call sends no request, because it receives the response to an equal request of another call. The value is
    /// the `ExchangeContext.id` of that call. The events of the shared request have that identifier, even after that
    /// call has ended.
    case joined(UInt64)
    /// The transport receives a request, in its final form.
    case sent(HTTPRequest)
    /// The transport has reached a phase of obtaining a connection for the request. `ExchangeEvent.ConnectionPhase`
    /// documents the order of the phases. Not every transport reports this event.
    case connecting(ExchangeEvent.ConnectionPhase)
    /// An interim response (1xx, RFC 9110 §15.2) arrived before the head, such as 103 with early hints. There may be
    /// several; 101 is a final response.
    case interim(HTTPStatus, HTTPHeaders)
    /// The response head of a request on the wire has arrived.
    case answered(HTTPResponse)
    /// A request on the wire ended without a response.
    case attemptFailed(NetworkError)
    /// One attempt has ended, and a policy has decided whether the request is sent again. The value includes the
    /// decision and its reason.
    case tried(NetworkError.Attempt)
    /// An event that a capability defines, such as `RedirectPolicy.Event`, `CookieStore.Event`, `HTTPCache.Event` or
    /// `Pipeline.PolicyEvent`.
    case feature(any ExchangeEvent.Feature)
    /// The trailer fields of a response have arrived (RFC 9110 §6.5). The event is reported only for a complete body,
    /// before the reader reaches its end. Trailer fields are not part of the response's header fields.
    case trailers(HTTPHeaders)
    /// A request on the wire has ended: its body is complete, has broken off or was cancelled, or there was no
    /// response. The value includes everything that the transport measured; its `queue` includes waits in queues of the
    /// pipeline. For a transport that measures nothing, and for a cancelled body, it includes the times up to this
    /// event.
    case measured(ExchangeMetrics)
    /// Events were dropped before this one, because observers were too slow. The value is the number of dropped events.
    case lost(Int)
    /// The transport noticed a problem that does not fail the call, such as pins that expire soon.
    case warned(ExchangeEvent.Warning)
    /// The call ended with a response for the caller. `after` is the duration of the call.
    case succeeded(HTTPResponse, after: Duration)
    /// The call ended with an error for the caller. `after` is the duration of the call.
    case failed(NetworkError, after: Duration)
}

extension ExchangeEvent {
    /// Returns the event for observers: without bodies that are still in transfer, because an event in the queue must
    /// not hold a connection, and with the secrets that a client and its interceptors declare, so that its description
    /// redacts them.
    func forObservers(_ secrets: DeclaredSecrets) -> ExchangeEvent {
        func knowing(_ headers: HTTPHeaders) -> HTTPHeaders {
            var headers = headers
            secrets.declare(in: &headers)
            return headers
        }
        return switch self {
        case .began(let request): .began(request.knowing(secrets))
        case .sent(let request): .sent(request.knowing(secrets))
        case .interim(let status, let headers): .interim(status, knowing(headers))
        case .answered(let response): .answered(response.forObservers(secrets))
        case .attemptFailed(let error): .attemptFailed(error.withholding(secrets))
        case .trailers(let headers): .trailers(knowing(headers))
        case .succeeded(let response, let duration): .succeeded(response.forObservers(secrets), after: duration)
        case .failed(let error, let duration): .failed(error.withholding(secrets), after: duration)
        case .joined, .connecting, .tried, .feature, .measured, .lost, .warned: self
        }
    }

    /// A phase of obtaining a connection for a request, reported as it happens (`ExchangeEvent.connecting`).
    ///
    /// For a new connection the order is `resolving` (if a lookup is needed), `trying` once per address, `opened`,
    /// `secured` if the connection uses TLS, and `ready`. For an existing connection, or one that another exchange is
    /// opening, only `ready` is reported. The phases start again when the transport has to send the request again. A
    /// failed attempt ends after the last phase that it reached.
    ///
    /// `CurlTransport` reports the phases. URLSession provides their times only at the end, in `ExchangeMetrics`.
    @nonexhaustive
    public enum ConnectionPhase: Hashable, Sendable {
        /// The transport starts to resolve the name of the host, or of its proxy. Not reported if the addresses are
        /// cached, or known without a lookup.
        case resolving(name: String)
        /// The transport starts to connect to this address of the host, or of its proxy: `192.0.2.1:443`. It may try
        /// the next address before this one has failed (RFC 8305). The address of a Unix domain socket is its path.
        case trying(address: String)
        /// The connection is open. With TLS, the handshake begins, through the tunnel of a proxy if there is one.
        /// Without TLS, this phase is reported together with `ready`.
        case opened
        /// The TLS handshake with the server is complete, and its certificate is accepted.
        case secured(ExchangeMetrics.Connection.TLS)
        /// The request is about to be sent on this connection.
        case ready(ExchangeMetrics.Connection)
    }
}

extension ExchangeEvent.ConnectionPhase: CustomStringConvertible {
    /// A short text for logs, such as `trying 192.0.2.1:443`.
    public var description: String {
        switch self {
        case .resolving(let name): "looking up \(name)"
        case .trying(let address): "trying \(address)"
        case .opened: "opened"
        case .secured(let tls): "secured by \(tls)"
        case .ready(let connection): "ready on \(connection)"
        }
    }
}

extension ExchangeEvent {
    /// A problem that a transport noticed without failing the call. Later versions may add cases.
    @nonexhaustive
    public enum Warning: Hashable, Sendable {
        /// The server's key is not in the report-only set of pins of the host. `found` is the pin of that key. With
        /// `TransportConfiguration.TLS.PinSet.Scope.verifiedChain`, `found` lists the pins of the verified path, the
        /// server's own first, separated by a comma and a space.
        case pinMismatch(host: String, found: String)
        /// The host's set of pins has expired and is no longer enforced.
        case pinsExpired(host: String, on: Date)
        /// The host's set of pins expires in less than 30 days.
        case pinsExpireSoon(host: String, on: Date)
    }
}

extension ExchangeEvent.Warning: CustomStringConvertible {
    /// A sentence that describes the problem for a developer.
    public var description: String {
        switch self {
        case .pinMismatch(let host, let found): "\(host) has no pinned key, but \(found) (report only)."
        case .pinsExpired(let host, let date): "The pins of \(host) expired at \(date) and are not enforced."
        case .pinsExpireSoon(let host, let date): "The pins of \(host) expire at \(date)."
        }
    }
}

extension ExchangeEvent {
    /// An event that one capability of the client defines, such as redirects or caching. Observers receive it as
    /// `ExchangeEvent.feature`:
    ///
    ///     case .feature(let event as RedirectPolicy.Event): print(event)
    ///
    /// The description is one line without secrets.
    public protocol Feature: Sendable, CustomStringConvertible {
        /// The name of the kind of event, for counters: lower-case words that are joined by dots and underscores, such
        /// as `cache.fresh`. It comes from a fixed set, and contains no value of the call. The default is `custom`.
        var name: String { get }
    }
}

extension ExchangeEvent.Feature {
    /// The name `custom`.
    public var name: String { "custom" }
}

extension HTTPResponse {
    /// A copy of the response for observers: with a body in memory of at most 16 KiB, or an empty one, and with
    /// `secrets` declared in its header fields.
    func forObservers(_ secrets: DeclaredSecrets) -> HTTPResponse {
        var response = self
        response.body = response.body.outline
        secrets.declare(in: &response.headers)
        return response
    }
}
