// SPDX-License-Identifier: MIT

import CurlewHTTP

/// A part of the pipeline that processes each request before it is sent and each response before it is returned.
///
/// An interceptor may change the request, respond without a request to the server, send several requests, or change the
/// response:
///
///     struct Tenant: Interceptor {
///         let name: String
///         func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
///             var request = request
///             request.headers["X-Tenant"] = name
///             return try await next(request)
///         }
///     }
///
/// Rules:
/// - `next` returns when the response *head* has arrived, so code after it does not wait for the body. To process the
///   body, wrap `response.body`. To record the totals of a call, use a `RequestObserver`.
/// - State that several calls share belongs in one private lock or actor of the interceptor.
/// - Any error may be thrown. The caller receives a `NetworkError`, with the reason `.interceptor` for an app's own
///   error.
/// - To test a single interceptor, create its `Next` from a closure: `Next { request, context in … }`.
/// - Everything else about an interceptor is in its `traits`, which have safe defaults.
public protocol Interceptor: Sendable {
    /// Processes `request` and returns its response. Calls `next` for the rest of the pipeline: once, several times or
    /// not at all. This is the only requirement without a default.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse
    /// The description of the interceptor: its placement, the origin to which its additions may be sent, its principal
    /// and its checks. A pipeline reads it once, when the interceptor is added. Default `InterceptorTraits()`.
    var traits: InterceptorTraits { get }
}

extension Interceptor {
    /// The default traits: those of an interceptor that may attach anything.
    public var traits: InterceptorTraits { InterceptorTraits() }

    /// The name of the interceptor in the description of a pipeline: its own description, or else the name of its type
    /// without `Interceptor`.
    var label: String {
        if let described = self as? any CustomStringConvertible { return described.description }
        let name = String(describing: Self.self)
        return name.hasSuffix("Interceptor") ? String(name.dropLast("Interceptor".count)) : name
    }
}

/// The position of an interceptor in a pipeline, from the caller to the transport.
///
/// Interceptors after `.redirects` run once per hop, those after `.retry` once per attempt. A hedged attempt has two
/// requests, and interceptors after `.hedging` run once for each of them. Only interceptors after `.authentication` run
/// again for a request that is repeated after a 401. A placement closer to the caller is less than one closer to the
/// transport.
public enum Placement: Comparable, Sendable, CaseIterable {
    /// Outermost: logs the call as its caller sees it, once.
    case logging
    /// For interceptors of the app that limit the total time of a call, or change its request, once per call.
    case totalDeadline
    /// Provides a response in place of a failed call, once.
    case fallback
    /// Follows redirects, once per call.
    case redirects
    /// Adds and stores cookies, once per hop.
    case cookies
    /// Lets equal calls share one exchange, once per hop.
    case coalescing
    /// Responds from the cache, once per hop.
    case caching
    /// Retries failed attempts, once per hop.
    case retry
    /// Sends a second request in parallel with the first, once per attempt.
    case hedging
    /// Stops sending to origins that keep failing, once per request of an attempt.
    case circuitBreaker
    /// Limits the rate of requests, once per request of an attempt.
    case rateLimit
    /// Limits the number of concurrent exchanges, once per request of an attempt.
    case concurrencyLimit
    /// The default placement. Its interceptors run once per request of an attempt, before credentials are attached, in
    /// the order in which they were added.
    case custom
    /// Attaches credentials, and may send the request once more after a 401.
    case authentication
    /// Adds fields to each request on the wire, such as those of a trace, before the request is signed.
    case fields
    /// Signs the request in its final form.
    case signing
    /// Limits the time until the response head of each request on the wire arrives.
    case attemptTimeout
    /// Innermost: sees each request as it is sent.
    case wire
}

/// An interceptor that Curlew provides. Factories such as `.retry()`, `.caching()` and `.bearer { token }` return it.
///
/// A pipeline inserts the interceptor at its own placement, so `Pipeline.standard.replacing(.retry(.attempts(5)))`
/// replaces the retry interceptor. Each factory documents the rules of its interceptor. Copies share the interceptor's
/// state.
public struct BuiltInInterceptor: Interceptor {
    /// The interceptor itself. A pipeline stores it in place of this value, so that calls bypass the wrapper.
    let base: any Interceptor

    /// Creates the value that a factory returns for `base`, an interceptor of this package.
    package init(_ base: any Interceptor) {
        self.base = base
    }

    /// Creates an interceptor from a closure. `name` is its name in the description of a pipeline.
    package init(
        _ name: String, _ traits: InterceptorTraits,
        _ intercept: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPResponse
    ) {
        base = ClosureInterceptor(description: name, traits: traits, closure: intercept)
    }

    /// The traits of the interceptor: its placement, scope, principal and checks.
    public var traits: InterceptorTraits { base.traits }

    /// Processes the request and returns the response. Throws the errors that the factory documents.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }
}

private struct ClosureInterceptor: Interceptor, CustomStringConvertible {
    let description: String
    let traits: InterceptorTraits
    let closure: @Sendable (HTTPRequest, Next) async throws -> HTTPResponse

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await closure(request, next)
    }
}

extension BuiltInInterceptor: CustomStringConvertible {
    /// The name of the interceptor, such as `Retry`, as the description of a pipeline shows it. Contains no secrets.
    public var description: String { base.label }
}
