// SPDX-License-Identifier: MIT

import CurlewHTTP

extension RetryPolicy {
    /// The verdict of the app on an attempt: the result of the closure in `.retry(when:)`.
    public enum Verdict: Hashable, Sendable {
        /// `RetryPolicy` decides as it would without the rule.
        case usual
        /// The outcome is transient, whatever its status or reason.
        ///
        /// The request is retried if it may be sent twice (`ExchangeContext.mayRepeat`), within the attempts, the
        /// waits, the budget and the deadline. `Retry-After` and `X-Should-Retry: false` of the server still apply.
        /// Cancellation, failures of TLS and of pins, refusals by a proxy, and requests that are invalid, misconfigured
        /// or cannot be encoded are not retried.
        case retry
        /// Like `retry`, but the app knows that the server has not processed the request. The request is sent again
        /// even if it must not be processed twice, such as a POST without an `Idempotency-Key`.
        case retryUnprocessed
        /// The outcome is final: the request is not retried.
        case final

        var wantsRetry: Bool { self == .retry || self == .retryUnprocessed }
    }
}

extension HTTPRequest {
    /// Returns the request that `onRetry` produced. At another origin, it lacks the earlier fields that are not known
    /// to be harmless, as after a redirect; fields that the app has newly set stay. Throws if the scheme changed from
    /// https to http.
    func following(_ former: HTTPRequest, in context: ExchangeContext) throws(NetworkError) -> HTTPRequest {
        guard origin != former.origin else { return self }
        guard origin.isSecure || !former.origin.isSecure else {
            throw NetworkError(
                .invalidRequest,
                detail: "The next attempt would go from https to http (\(NetworkError.RequestLine(self))).",
                hint: "Let onRetry return an https URL.", request: NetworkError.RequestLine(former))
        }
        let forwarded = context.forwardedFields
        let allowed = ForwardedFields(
            secret: context.fields.secret.union(forwarded.secret), home: context.homeFields,
            declared: context.fields.harmless.union(forwarded.declared))
        var request = self
        for name in headers.map(\.name)
        where !allowed.allow(name) && headers[values: name] == former.headers[values: name] {
            request.headers.remove(name)
        }
        return request
    }
}

extension HTTPResponse {
    /// Adapts a response from another origin, so that interceptors closer to the caller can treat it as a response to
    /// `original`. Removes cookies, resolves a relative `Location` against the origin that sent it, and forbids caching.
    mutating func arrive(from sent: HTTPRequest, insteadOf original: HTTPRequest) {
        guard sent.origin != original.origin else { return }
        headers.remove(.setCookie)
        headers[.cacheControl] = "no-store"
        if let location = headers[.location],
            let parts = try? URLParts(resolving: location, against: sent.origin, target: sent.target)
        {
            headers[.location] = parts.origin.description + parts.target
        }
    }
}
