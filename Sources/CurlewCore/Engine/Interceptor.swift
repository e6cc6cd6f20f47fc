// SPDX-License-Identifier: MIT

/// A policy around an exchange. It processes the request before it is sent and the response when it is returned.
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
/// - The chain unwinds when the response *head* has arrived. Code after `next` does not wait for the body: to process
///   it, wrap `response.body`. Totals belong in a `RequestObserver`.
/// - State that several calls share belongs in one private lock or actor of the interceptor.
/// - Any error may be thrown. The caller receives a `NetworkError`.
/// - To test a single interceptor, create its `Next` from a closure: `Next { request, context in … }`.
/// - `ValidatingInterceptor` reports configuration errors of an interceptor.
public protocol Interceptor: Sendable {
    /// Processes a request and runs the rest of the chain through `next`, as often as necessary. The only requirement
    /// without a default.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse
    /// The place at which `Pipeline.adding(_:)` inserts the interceptor, unless the call specifies another. Default
    /// `.custom`.
    var placement: Placement { get }
    /// Returns the principal whose credential the interceptor would attach to `request` now, without I/O. Called only
    /// by components that store or share responses (`Next.principal(of:)`) and by `APIClient.problems`.
    ///
    /// The default is `.unknown` at every placement. A cache or a shared exchange that is closer to the caller cannot
    /// see what this interceptor adds. It then stores and shares nothing, and reports that in `APIClient.problems` and
    /// in its verdicts. Components closer to the transport see the additions on the request and do not call this
    /// method. An interceptor whose changes do not affect responses returns `.anonymous`, or is added with
    /// `changesPrincipal: false`.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal
    /// Whether `APIClient.preview` runs the interceptor. Default true; false for interceptors that need a response.
    var runsInPreview: Bool { get }
}

/// An interceptor whose configuration can be invalid, or which depends on the configuration of other interceptors.
public protocol ValidatingInterceptor: Interceptor {
    /// Declares facts that other interceptors depend on, such as a timeout or a budget, and the secret fields and query
    /// items that this one attaches (`Pipeline.Environment.fields`). Called for all interceptors before any
    /// `problem(in:)`.
    func declare(in setup: inout Pipeline.Environment)
    /// Returns a configuration error, given the client; nil if the configuration is valid. Every call throws the error.
    func problem(in setup: Pipeline.Environment) -> String?
    /// Returns a warning about a configuration that works but is probably not intended; nil if there is none. Calls are
    /// sent, and `APIClient.problems` lists the warning.
    func warning(in setup: Pipeline.Environment) -> String?
}

/// An interceptor that must load data once, such as tokens from a file or a keychain, before `principal(of:in:)` can
/// return the principal.
public protocol PreparingInterceptor: Interceptor {
    /// Loads the data, unless it is loaded. Called before `principal(of:in:)` where responses are stored or shared,
    /// never concurrently for one call. Waits at most until the deadline of `context`. Fails silently: the principal
    /// then stays unknown, and the call itself throws the error.
    func prepare(in context: ExchangeContext) async
}

/// An interceptor that is notified of calls that do not reach the pipeline, because their request could not be built.
package protocol UnsentCallListener: Interceptor {
    func note(unsent error: NetworkError, in context: ExchangeContext)
}

extension ValidatingInterceptor {
    /// Declares nothing.
    public func declare(in setup: inout Pipeline.Environment) {}

    /// Returns nil: no error.
    public func problem(in setup: Pipeline.Environment) -> String? { nil }

    /// Returns nil: no warning.
    public func warning(in setup: Pipeline.Environment) -> String? { nil }
}

extension Interceptor {
    /// The default placement, `.custom`.
    public var placement: Placement { .custom }

    /// Returns `.unknown`, because the interceptor may attach anything.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .unknown }

    /// True: a preview shows the effect on the request.
    public var runsInPreview: Bool { true }

    /// The name in a pipeline's description: the type's name without `Interceptor`.
    package var label: String {
        if let described = self as? any CustomStringConvertible { return described.description }
        let name = String(describing: Self.self)
        return name.hasSuffix("Interceptor") ? String(name.dropLast("Interceptor".count)) : name
    }
}

/// The places in the standard pipeline, from the caller to the transport.
///
/// Interceptors to the right of `.redirects` run once per hop, those to the right of `.retry` once per attempt, and
/// those to the right of `.hedging` once per request on the wire.
public enum Placement: Int, Comparable, Sendable, CaseIterable {
    /// Outermost: logs the call as its caller sees it, once.
    case logging
    /// Bounds or changes the call as a whole, once.
    case totalDeadline
    /// Provides a response in place of a call that has failed, once.
    case fallback
    /// Follows redirects.
    case redirects
    /// Upgrades requests to https where required, once per hop.
    case transportSecurity
    /// Adds and stores cookies, once per hop.
    case cookies
    /// Lets calls share an exchange, once per hop.
    case coalescing
    /// Responds from the cache, once per hop.
    case caching
    /// Retries failed attempts.
    case retry
    /// Sends a second request in parallel with the first.
    case hedging
    /// Stops sending to origins that keep failing, once per request on the wire.
    case circuitBreaker
    /// Limits the rate of requests, once per request on the wire.
    case rateLimit
    /// Limits the number of concurrent exchanges, once per request on the wire.
    case concurrencyLimit
    /// Interceptors without a specific place. They run once per attempt, before credentials are attached, in the order
    /// in which they were added.
    case custom
    /// Attaches credentials, and sends the request once more after a 401.
    case authentication
    /// Applies a content coding to the request body, before the request is signed.
    case compression
    /// Signs the request in its final form.
    case signing
    /// Bounds the time of one request.
    case attemptTimeout
    /// Innermost: sees each request as it is sent.
    case wire

    /// Returns true if `left` is closer to the caller.
    public static func < (left: Placement, right: Placement) -> Bool {
        left.rawValue < right.rawValue
    }
}
