// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Follows redirects. For the rules, see `.redirects(_:)`.
struct RedirectInterceptor: Interceptor, CustomStringConvertible {
    /// The policy for calls that specify no policy.
    let policy: RedirectPolicy

    init(_ policy: RedirectPolicy = .standard) {
        self.policy = policy
    }

    /// The principal is `.unknown`: for a cache that is closer to the caller, the response may be from any URL, with
    /// the credentials that are attached there. At `.redirects`, no cache is closer to the caller, so none reads it.
    var traits: InterceptorTraits { InterceptorTraits(.redirects) { _, _ in .unknown } }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        // Caches must know declared secrets before the first redirect. Most calls declare none, and then the context is
        // not copied.
        var context: ExchangeContext?
        if !policy.secretHeaders.isEmpty || next.context[RedirectPolicyKey.self]?.secretHeaders.isEmpty == false {
            context = next.context
            context?.forwardedFields.secret.formUnion(policy(for: next.context).secretHeaders)
        }
        let response = try await next(request, context: context)
        guard RedirectPolicy.redirects(response.status) else { return response }
        return try await follow(response, to: request, next, context ?? next.context)
    }

    /// Returns the call's policy plus the header fields that the client's policy declares; the client's policy if the
    /// call has none.
    private func policy(for context: ExchangeContext) -> RedirectPolicy {
        let chosen = context.options.isSingleHop ? .manual : context[RedirectPolicyKey.self]
        return chosen?.keeping(secret: policy.secretHeaders).forwarding(policy.forwardedHeaders) ?? policy
    }

    private func follow(
        _ first: HTTPResponse, to original: HTTPRequest, _ next: Next, _ context: ExchangeContext
    ) async throws -> HTTPResponse {
        let policy = policy(for: context)
        var context = context
        var trail = RedirectTrail(crossedOrigin: context.crossedOrigin)
        var (request, response, began) = (original, first, Duration.zero)
        while true {
            let decision = policy.decide(
                response.status, response.headers, to: request, after: trail, limit: context.limits.redirects,
                homeFields: context.homeFields)
            switch decision {
            case .deliver(let reason):
                if let reason {
                    let known = response.forObservers(context.secrets)
                    context.record(.feature(RedirectPolicy.Event.kept(known, because: reason)))
                }
                if context.hop > 0 { response.redirects = context.redirects }
                if context.hop > 0 { response.follow(context.pastAttempts, hop: context.hop, start: began) }
                return response
            case .fail(let failure):
                response.body.cancel()
                throw explained(failure, response, to: request, in: context)
            case .follow(let following, let redirect):
                try await response.body.finish(on: context.time)
                trail.append(redirect)
                began = context.start.duration(to: context.time.now)
                context.pastAttempts = response.attempts
                try advance(&context, by: redirect, from: request.origin, trail, policy)
                request = following
                response = try await send(request, next, context)
            }
        }
    }

    private func advance(
        _ context: inout ExchangeContext, by redirect: RedirectPolicy.Redirect, from origin: Origin,
        _ trail: RedirectTrail,
        _ policy: RedirectPolicy
    ) throws {
        guard !context.totalDeadline.hasPassed(at: context.time.now) else {
            throw NetworkError(
                .timedOut(.total), detail: "The time limit of the call expired after \(context.hop) redirects.")
        }
        context.record(.feature(RedirectPolicy.Event.followed(redirect)))
        context.hop += 1
        context.attempt = 1
        context.redirects.append(redirect)
        context.pastOrigins.append(origin)
        if trail.crossedOrigin { context.leaveOrigin(forwarding: policy.forwardedHeaders) }
    }

    private func send(
        _ request: HTTPRequest, _ next: Next, _ context: ExchangeContext
    ) async throws -> HTTPResponse {
        do {
            return try await next(request, context: context)
        } catch {
            var failure = NetworkError(error).naming(NetworkError.RequestLine(request))
            if failure.attempts.isEmpty { failure.attempts = context.pastAttempts }
            throw failure
        }
    }

    private func explained(
        _ failure: NetworkError, _ response: HTTPResponse, to request: HTTPRequest, in context: ExchangeContext
    ) -> NetworkError {
        var failure = failure.naming(NetworkError.RequestLine(request))
        failure.attempts = response.attempts
        if failure.response == nil {
            failure.response = NetworkError.Response(
                status: response.status, headers: response.headers, date: context.time.date)
        }
        return failure
    }

    /// `Redirects`, with the policy if it is not the standard one.
    var description: String {
        if case .all = policy.rule { "Redirects" } else { "Redirects(\(policy))" }
    }
}

/// The redirects that a call has followed so far.
struct RedirectTrail: Sendable {
    private(set) var redirects: [RedirectPolicy.Redirect] = []
    /// Whether a redirect has led to another origin. Never reset.
    private(set) var crossedOrigin = false

    mutating func append(_ redirect: RedirectPolicy.Redirect) {
        redirects.append(redirect)
        crossedOrigin = crossedOrigin || redirect.leavesOrigin
    }

    /// Returns an error if one more redirect would exceed the limit; nil otherwise. A repeated URL may have a different
    /// response, for example because of a cookie, so only the limit ends a loop (RFC 9110 §15.4).
    func failure(toFollow redirect: RedirectPolicy.Redirect, limit: Int) -> NetworkError? {
        guard redirects.count >= max(0, limit) else { return nil }
        let isCircle = redirects.contains { $0.method == redirect.nextMethod && $0.url == redirect.nextURL }
        return NetworkError(
            .limitExceeded(.redirects),
            detail: "More than \(limit) redirects, the last \(redirect)." + (isCircle ? " They form a loop." : ""),
            hint: isCircle
                ? "The server sends the same redirect for the same request. Does it expect a cookie or a credential?"
                : "Raise options.limits.redirects if this number is intended.")
    }
}

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
