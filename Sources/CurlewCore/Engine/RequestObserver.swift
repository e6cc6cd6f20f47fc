// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Listens to what happens in a client, without being able to change it.
///
/// One method and one enum instead of a method per event: an observer switches over what it cares about. A client without
/// observers spends nothing on events.
///
/// - `record` is called on a dispatch queue that the client has for its observers: one event after the other, for all of
///   its calls, in the order in which they are recorded. It is never called on a thread of a transport, and may take its
///   time: it holds up nothing but the events behind it and the end of the calls that they belong to.
/// - The events of a call come in the order that `ExchangeEvent` documents, and `send` returns or throws when they have
///   been told. It waits five seconds at most: an observer that takes longer gets the rest later.
/// - At most 16,384 events wait for slow observers; of more, the newest are dropped and counted (`ExchangeEvent.lost`).
public protocol RequestObserver: Sendable {
    /// Takes note of one event. `context` is that of the moment: its attempt, its redirects, its sending.
    func record(_ event: ExchangeEvent, in context: ExchangeContext)
}

/// What happens in the course of a call.
///
/// The order, for each call (`ExchangeContext.id`):
///
/// 1. `began`, unless the call could not be made; then `failed` is all there is.
/// 2. For each request that is sent (`ExchangeContext.sending`): `sent`, any number of `connecting` and `interim`, then
///    either `answered`, and `trailers` if there are any, or `attemptFailed`; then `measured`, once. `warned` is between
///    `sent` and `measured`.
///    The two sendings of a hedged attempt overlap.
/// 3. Between them what is decided: `tried` behind the outcome that it tells of, `redirected`, `cacheDecided`, `joined`.
/// 4. `succeeded` or `failed`, once.
///
/// Responses in events have the bodies that came with their heads, up to 16 KiB; other bodies belong to their readers and
/// are empty here.
///
/// What comes after that: `trailers` and `measured` of a body that the caller reads as it comes, by the time that
/// `withResponse` returns; `cacheStoreFailed`; and, where calls share exchanges (`.coalescing()`), what happens to a
/// request that others still wait for when the call that began it has ended.
@nonexhaustive
public enum ExchangeEvent: Sendable {
    /// The call begins; the request is as built, before interceptors.
    case began(HTTPRequest)
    /// The call sends nothing of its own: it gets the answer to the same request of another call, which began under this
    /// `ExchangeContext.id`. What happens to that request is told under that id, also once that call has ended.
    case joined(UInt64)
    /// The transport has the request of one attempt; it is what goes to the wire.
    case sent(HTTPRequest)
    /// The engine makes a connection for the request, or has one. The order of the phases is that of `ConnectionPhase`. Not
    /// every transport tells.
    case connecting(ConnectionPhase)
    /// An interim answer (1xx, RFC 9110 §15.2) came before the head, such as 103 with early hints. Any number of them;
    /// 101 is an answer.
    case interim(HTTPStatus, HTTPHeaders)
    /// The head of the answer to one attempt is there.
    case answered(HTTPResponse)
    /// One attempt ended without an answer.
    case attemptFailed(NetworkError)
    /// One attempt is over and not simply the caller's: what was decided about it, and why.
    case tried(Attempt)
    /// A policy opened or closed a circuit, made the call wait or refused it, or found its budget empty.
    case policy(PolicyNotice)
    /// A redirect is followed; what comes next belongs to its next hop.
    case redirected(Redirect)
    /// An answer that redirects is the caller's, for the reason given in one sentence with secrets out.
    case redirectKept(HTTPResponse, because: String)
    /// A cookie of the answer is not taken; its name is as the server wrote it, at most 64 characters.
    case cookieRefused(CookieRefusal, name: String)
    /// The cache of the pipeline has decided where an answer comes from; its head is there.
    case cacheDecided(CacheVerdict)
    /// The cache's store failed; the call goes on without it. Also after the call's end, when a commit that the call did not
    /// wait for has failed (`CacheRules.commitTimeout`).
    case cacheStoreFailed(NetworkError)
    /// The cache's store has given up so many entries to hold its limits, since that was told last: once for a response that
    /// is kept, however many they were. As late as `cacheStoreFailed`.
    case cacheEvicted(Int)
    /// The fields that came after the body of one attempt (RFC 9110 §6.5). Only for a body that is complete, and before
    /// its reader hears of the end; they are not among the headers of the response.
    case trailers(HTTPHeaders)
    /// The request of one attempt is over: its body is complete, has broken off or was given up, or there was no response.
    /// All that the engine measured, with the waits in queues of the pipeline in `queue`; of a transport that measures
    /// nothing, and of a body that was given up, the times up to here.
    case measured(ExchangeMetrics)
    /// So many events were not told before this one, because observers took too long.
    case lost(Int)
    /// The transport noticed something that the call survives, such as pins that expire soon.
    case warned(TransportWarning)
    /// The call ended with an answer that the caller gets, after this time.
    case succeeded(HTTPResponse, after: Duration)
    /// The call ended with an error that the caller gets, after this time.
    case failed(NetworkError, after: Duration)
}

extension ExchangeEvent {
    /// The event without a body that the caller reads: an event that waits must not hold a connection.
    var withoutTransfer: ExchangeEvent {
        func outlined(_ response: HTTPResponse) -> HTTPResponse {
            var response = response
            response.body = response.body.outline
            return response
        }
        return switch self {
        case .answered(let response): .answered(outlined(response))
        case .redirectKept(let response, let reason): .redirectKept(outlined(response), because: reason)
        case .succeeded(let response, let duration): .succeeded(outlined(response), after: duration)
        default: self
        }
    }

    /// The event with texts that do not show what a client and its interceptors declare, whoever made it.
    func withholding(_ secrets: DeclaredSecrets) -> ExchangeEvent {
        guard !secrets.isEmpty else { return self }
        func knowing(_ headers: HTTPHeaders) -> HTTPHeaders {
            var headers = headers
            secrets.declare(in: &headers)
            return headers
        }
        func knowing(_ response: HTTPResponse) -> HTTPResponse {
            var response = response
            secrets.declare(in: &response.headers)
            return response
        }
        return switch self {
        case .began(let request): .began(request.knowing(secrets))
        case .sent(let request): .sent(request.knowing(secrets))
        case .interim(let status, let headers): .interim(status, knowing(headers))
        case .answered(let response): .answered(knowing(response))
        case .attemptFailed(let error): .attemptFailed(error.withholding(secrets))
        case .redirectKept(let response, let reason): .redirectKept(knowing(response), because: reason)
        case .cacheStoreFailed(let error): .cacheStoreFailed(error.withholding(secrets))
        case .trailers(let headers): .trailers(knowing(headers))
        case .succeeded(let response, let duration): .succeeded(knowing(response), after: duration)
        case .failed(let error, let duration): .failed(error.withholding(secrets), after: duration)
        case .joined, .connecting, .tried, .policy, .redirected, .cookieRefused, .cacheDecided, .cacheEvicted,
            .measured, .lost, .warned:
            self
        }
    }
}
