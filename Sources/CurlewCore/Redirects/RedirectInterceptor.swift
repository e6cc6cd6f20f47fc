// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Follows redirects. For the rules, see `.redirects(_:)`.
struct RedirectInterceptor: Interceptor {
    /// The policy for calls that specify no policy.
    let policy: RedirectPolicy

    init(_ policy: RedirectPolicy = .standard) {
        self.policy = policy
    }

    /// The principal is `.unknown`: for a cache that is closer to the caller, the response may be from any URL, with
    /// the credentials that are attached there. At `.redirects`, no cache is closer to the caller, so none asks for it.
    var traits: InterceptorTraits { InterceptorTraits(.redirects) { _, _ in .unknown } }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        // Caches must know declared secrets before the first redirect. Most calls declare none, and then the context is
        // not copied.
        guard policy.secretHeaders.isEmpty, next.context[RedirectPolicyKey.self]?.secretHeaders.isEmpty != false else {
            let context = declaring(next.context)
            let response = try await next(request, context: context)
            guard RedirectPolicy.redirects(response.status) else { return response }
            return try await follow(response, to: request, next, context)
        }
        let response = try await next(request)
        guard RedirectPolicy.redirects(response.status) else { return response }
        return try await follow(response, to: request, next, next.context)
    }

    private func declaring(_ context: ExchangeContext) -> ExchangeContext {
        var context = context
        context.forwardedFields.secret.formUnion(policy(for: context).secretHeaders)
        return context
    }

    /// Returns the call's policy plus the header fields that the client's policy declares; the client's policy if the
    /// call has none.
    private func policy(for context: ExchangeContext) -> RedirectPolicy {
        let chosen = context.options.isSingleHop ? .manual : context[RedirectPolicyKey.self]
        return chosen?.adding(policy) ?? policy
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
}

extension RedirectInterceptor: CustomStringConvertible {
    /// `Redirects`, with the policy if it is not the standard one.
    var description: String {
        if case .all = policy.rule { "Redirects" } else { "Redirects(\(policy))" }
    }
}
