// SPDX-License-Identifier: MIT

import CurlewHTTP

/// What a rule of the app makes of an attempt: the answer of the closure in `.retry(when:)`.
public enum RetryVerdict: Hashable, Sendable {
    /// What `RetryPolicy` says without the rule.
    case usual
    /// Such an outcome may pass, whatever its status or reason: it is tried again if sending twice intends the same as
    /// sending once (`ExchangeContext.mayRepeat`), within the attempts, the waits, the budget and the deadline. The server's
    /// `Retry-After` and its veto count as ever. Failures of TLS and of pins, invalid requests and cancellation stay as they
    /// are.
    case retry
    /// The same, and the app knows that the server has not acted on the request: it is sent again even if that must not
    /// happen twice, such as a POST without a key.
    case retryUnprocessed
    /// It stays as it is.
    case final

    var wantsRetry: Bool { self == .retry || self == .retryUnprocessed }
}

/// What an app makes of attempts, beyond a policy.
struct RetryRules: Sendable {
    var when: (@Sendable (AttemptResult) -> RetryVerdict)?
    var onRetry: (@Sendable (inout HTTPRequest, AttemptResult) async throws -> Void)?

    func verdict(on result: AttemptResult) -> RetryVerdict {
        if let when, result.error?.isCancelled != true { when(result) } else { .usual }
    }
}

extension HTTPRequest {
    /// What the app made of the request for its next attempt. At another origin without the fields that came along and are
    /// not known to be harmless, as after a redirect; what the app has set anew stays.
    func following(_ former: HTTPRequest, in context: ExchangeContext) throws(NetworkError) -> HTTPRequest {
        guard origin != former.origin else { return self }
        guard origin.isSecure || !former.origin.isSecure else {
            throw NetworkError(
                .invalidRequest, detail: "The next attempt would go from https to http (\(RequestLine(self))).",
                hint: "Let onRetry choose an https URL.", request: RequestLine(former))
        }
        let forwarded = context.forwardedFields
        let allowed = ForwardedFields(
            secret: context.fields.secret.union(forwarded.secret), home: context.homeFields,
            declared: context.fields.harmless.union(forwarded.declared))
        var request = self
        for name in Set(headers.map(\.name))
        where !allowed.allow(name) && headers[values: name] == former.headers[values: name] {
            request.headers.remove(name)
        }
        return request
    }
}

extension HTTPResponse {
    /// The response as one to `asked`: for what stands further out it would be that of another origin otherwise. Cookies and
    /// the like stay where they are from, a relative `Location` means the origin that sent it, and no cache keeps it.
    mutating func arrive(from sent: HTTPRequest, insteadOf asked: HTTPRequest) {
        guard sent.origin != asked.origin else { return }
        headers.remove(.setCookie)
        headers.remove(.strictTransportSecurity)
        headers[.cacheControl] = "no-store"
        if let location = headers[.location],
            let parts = try? URLParts(resolving: location, against: sent.origin, target: sent.target)
        {
            headers[.location] = parts.origin.description + parts.target
        }
    }
}
