// SPDX-License-Identifier: MIT

extension Interceptor where Self == BuiltInInterceptor {
    /// Follows redirects by the rules of `RedirectPolicy`: `.redirects()`, `.redirects(.sameOrigin)`. This interceptor
    /// is part of `Pipeline.standard`.
    ///
    /// Interceptors closer to the transport run once for each hop, with `context.hop`, `context.redirects` and, after
    /// the first change of origin, `context.crossedOrigin`. `HTTPResponse.redirects` contains the redirects that led to
    /// the response. Observers are notified of each redirect that is followed (`RedirectPolicy.Event.followed`), and of
    /// each redirect that is not followed, with the reason (`RedirectPolicy.Event.kept`).
    ///
    /// The body of a redirect response is read to its end if it has at most 64 KiB and arrives within a second, so that
    /// its connection can be reused. If a body is longer, stalls, is incomplete or cannot be decoded, the redirect is
    /// still followed, but the connection may be lost. All hops share the total deadline of the call.
    ///
    /// Throws `NetworkError`, with the redirect response in `response`: `.refused(by: .redirects)` for a redirect that
    /// must not be followed, `.limitExceeded(.redirects)` for too many redirects, `.badResponse` if `Location` cannot
    /// be parsed or has several different values. A response without `Location` is not a redirect and is returned to
    /// the caller.
    public static func redirects(_ policy: RedirectPolicy = .standard) -> BuiltInInterceptor {
        BuiltInInterceptor(RedirectInterceptor(policy))
    }
}

extension NetworkError.Policy {
    /// The policy of `.redirects()`. It refuses a redirect if its target is not allowed, or if it requires a body that
    /// cannot be sent again.
    public static let redirects = NetworkError.Policy(
        "redirects", message: "The server redirected the request without a result.")
}
