// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Listens to what happens in a client, without being able to change it.
///
/// One method and one enum instead of a method per event: an observer switches over what it cares about. `record` is
/// called on the task or engine thread where the event happens, in the order of the exchange, and must return quickly.
/// A client without observers spends nothing on events.
public protocol RequestObserver: Sendable {
    /// Takes note of one event.
    func record(_ event: ExchangeEvent, in context: ExchangeContext)
}

/// What happens in the course of a call.
@nonexhaustive
public enum ExchangeEvent: Sendable {
    /// The call begins; the request is as built, before interceptors.
    case began(HTTPRequest)
    /// The call sends nothing of its own: it gets the answer to the same request of another call, which began under this
    /// `ExchangeContext.id`. What happens to that request is told under that id, also once that call has ended.
    case joined(UInt64)
    /// The transport has the request of one attempt; it is what goes to the wire.
    case sent(HTTPRequest)
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
    /// The fields that came after the body of one attempt (RFC 9110 §6.5). Only for a body that is complete, and before
    /// its reader hears of the end; they are not among the headers of the response.
    case trailers(HTTPHeaders)
    /// The body of one attempt is complete, or has broken off: all that the engine measured, with the waits in queues of the
    /// pipeline in `queue`.
    case measured(ExchangeMetrics)
    /// The transport noticed something that the call survives, such as pins that expire soon.
    case warned(TransportWarning)
    /// The call ended with an answer that the caller gets, after this time.
    case succeeded(HTTPResponse, after: Duration)
    /// The call ended with an error that the caller gets, after this time.
    case failed(NetworkError, after: Duration)
}

extension ExchangeEvent {
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
        case .joined, .tried, .policy, .redirected, .cookieRefused, .cacheDecided, .measured, .warned: self
        }
    }
}
