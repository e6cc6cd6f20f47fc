// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Changes each request: `.onRequest { request, context in request.headers["X-Tenant"] = "acme" }`.
    ///
    /// A cache closer to the caller does not see what the closure adds, so it stores nothing. To use both:
    ///
    /// - If no response depends on the changes (a request id, a trace), pass `changesPrincipal: false`. The cache then
    ///   works as without the hook.
    /// - Otherwise place the hook closer to the caller than the cache, as with `.onRequest(at: .cookies) { … }`. The
    ///   cache then sees the changes, and has separate entries for each value of a field that is not known to be
    ///   harmless.
    ///
    /// The additions of the closure belong to the origin of the client's base URL. A request for another origin (by an
    /// absolute URL, by `with(baseURL:)` or after a redirect) is sent without fields that the closure adds or changes,
    /// unless they are known or declared as harmless (`Redaction.Rules.harmless`), and without added query items that
    /// have secret names. For another origin, and in a client without a base URL, name the origin:
    /// `.onRequest(for: "https://cdn.example.com") { … }` runs only for requests for that origin.
    ///
    /// - `url`: a URL of the origin whose requests the hook changes; its path is ignored. Default nil: the closure runs
    ///   for every request. With text that is not an absolute URL, every call throws `.configuration`.
    /// - `placement`: the position in the pipeline. Default `.custom`, once for each request of an attempt.
    /// - `changesPrincipal`: whether responses may depend on the changes. Default true: caches and coalescing closer to
    ///   the caller neither store nor share responses.
    /// - `body`: the closure that changes the request. If it throws an error, this request is not sent and fails with
    ///   the error, which the interceptors closer to the caller receive.
    public static func onRequest(
        for url: String? = nil, at placement: Placement = .custom, changesPrincipal: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) -> BuiltInInterceptor {
        let home = url.map { url in Result { () throws(NetworkError) in try HTTPRequest(url: url).origin } }
        let origin = try? home?.get()
        let concerns = { @Sendable (request: HTTPRequest) in url == nil || origin == request.origin }
        // The closure may attach any credential.
        var traits = InterceptorTraits(
            placement: placement, scope: origin.map { .origin($0) } ?? .clientOrigin
        ) { request, _ in
            changesPrincipal && concerns(request) ? .unknown : .anonymous
        }
        if case .failure(let error)? = home { traits.problem = { _ in "The hook has no origin. \(error.detail)" } }
        return BuiltInInterceptor(origin.map { "onRequest(\($0))" } ?? "onRequest", traits) { request, next in
            guard concerns(request) else { return try await next(request) }
            var request = request
            try await body(&request, next.context)
            return try await next(request)
        }
    }

    /// Inspects each response that reaches the hook, whatever its status, when its head arrives.
    ///
    /// The closure must leave the body to the caller, because a body can be read only once.
    ///
    /// - `placement`: as for `onRequest`. Responses from a cache reach only hooks closer to the caller.
    /// - `body`: the closure that inspects the response. If it throws an error, the error replaces the response.
    public static func onResponse(
        at placement: Placement = .custom,
        _ body: @escaping @Sendable (HTTPResponse, ExchangeContext) async throws -> Void
    ) -> BuiltInInterceptor {
        BuiltInInterceptor("onResponse", InterceptorTraits(placement)) { request, next in
            var response = try await next(request)
            next.context.secrets.declare(in: &response.headers)
            try await body(response, next.context)
            return response
        }
    }

    /// Observes each failure that is not a response.
    ///
    /// The closure runs when there is no response: a connection fails, a timeout expires, or an interceptor closer to
    /// the transport throws. A status such as 404 is a response here: `onResponse` receives it, and the typed call
    /// turns it into an error afterwards. A body that breaks off later is not observed. Cancellation is a failure too;
    /// check `error.isCancelled`.
    ///
    /// - `placement`: as for `onRequest`. At `.custom`, the closure also observes failures that are retried.
    /// - `body`: the closure that observes the error. When it has returned, the error is passed on towards the caller.
    public static func onError(
        at placement: Placement = .custom, _ body: @escaping @Sendable (NetworkError, ExchangeContext) async -> Void
    ) -> BuiltInInterceptor {
        BuiltInInterceptor("onError", InterceptorTraits(placement)) { request, next in
            do {
                return try await next(request)
            } catch {
                let failure = NetworkError(error).naming(NetworkError.RequestLine(request))
                    .withholding(next.context.secrets)
                await body(failure, next.context)
                throw failure
            }
        }
    }
}
