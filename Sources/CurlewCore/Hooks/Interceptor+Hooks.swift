// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Changes each request: `.onRequest { request, context in request.headers["X-Tenant"] = "acme" }`.
    ///
    /// A cache further out cannot know what the closure adds, and so stores nothing, wherever the hook is placed. If no
    /// response depends on what the closure changes (a request id, a trace), pass `changesPrincipal: false`, and the
    /// cache works as without the hook. Alternatively, place the hook outside of the cache, such as
    /// `.onRequest(at: .cookies) { … }`. The cache then sees what is added, and each value of a field that is not known
    /// to be harmless has separate entries.
    ///
    /// What the closure adds belongs to the origin of the client's base URL. A request for another origin, by an
    /// absolute URL, by `with(baseURL:)` or after a redirect, is sent without the fields that the closure adds or
    /// changes, unless they are harmless or declared (`FieldRules.harmless`), and without query items that have names
    /// of secrets. Name another origin for a hook that is for it: `.onRequest(for: "https://cdn.example.com") { … }`
    /// runs only for requests for that origin.
    ///
    /// - `placement`: the position in the pipeline. Default `.custom`, so that the closure runs once for each attempt.
    /// - `changesPrincipal`: whether a response may depend on what the closure changes. Default true, which keeps
    ///   caches and coalescing from using the responses. Pass false if none does.
    /// - `body`: changes the request. An error that it throws ends the call before this attempt sends anything.
    public static func onRequest(
        at placement: Placement = .custom, changesPrincipal: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(RequestHook(at: placement, changesPrincipal: changesPrincipal, body))
    }

    /// Changes the requests for the origin of `url` only:
    /// `.onRequest(for: "https://cdn.example.com") { request, context in request.headers["X-Key"] = key }`.
    ///
    /// - `url`: a URL of the origin; its path is ignored. A text that is not an absolute URL is a problem of the
    ///   pipeline.
    public static func onRequest(
        for url: String, at placement: Placement = .custom, changesPrincipal: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(RequestHook(for: url, at: placement, changesPrincipal: changesPrincipal, body))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Inspects each response when its head arrives, whatever the status.
    ///
    /// The closure runs when the response head arrives, for every status. The body can be read only once: leave it to
    /// the caller.
    ///
    /// - `placement`: the position in the pipeline. Default `.custom`, so that the closure runs once for each attempt.
    /// - `body`: an error that it throws ends the call instead of the response.
    public static func onResponse(
        at placement: Placement = .custom,
        _ body: @escaping @Sendable (HTTPResponse, ExchangeContext) async throws -> Void
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(ResponseHook(at: placement, body))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Observes each failure that is not a response.
    ///
    /// The closure runs when there is no response: a connection fails, a timeout passes, or an interceptor further in
    /// throws. A status such as 404 is a response here: `onResponse` receives it, and the typed call turns it into an
    /// error afterwards. The error is always passed on to the caller. Cancellation is reported too; check
    /// `error.isCancelled`.
    ///
    /// - `placement`: the position in the pipeline. Default `.custom`, so that the closure runs once for each attempt.
    /// - `body`: the error is passed on when it has returned.
    public static func onError(
        at placement: Placement = .custom, _ body: @escaping @Sendable (NetworkError, ExchangeContext) async -> Void
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(ErrorHook(at: placement, body))
    }
}

// These attach nothing.
extension ErrorHook: ScopedInterceptor {}
extension ResponseHook: ScopedInterceptor {}
