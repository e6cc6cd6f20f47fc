// SPDX-License-Identifier: MIT

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
/// - Any error may be thrown. The caller receives a `NetworkError`.
/// - To test a single interceptor, create its `Next` from a closure: `Next { request, context in … }`.
/// - To report configuration errors, conform to `ValidatingInterceptor`.
public protocol Interceptor: Sendable {
    /// Processes `request` and calls `next` for the rest of the pipeline: once, several times or not at all. This is
    /// the only requirement without a default.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse
    /// The place at which `Pipeline.adding(_:)` inserts the interceptor, unless another placement is passed. Default
    /// `.custom`.
    var placement: Placement { get }
    /// Returns the principal whose credential the interceptor would attach to `request` now, without I/O. Called only
    /// by components that store or share responses (`Next.principal(of:)`) and by `APIClient.problems`.
    ///
    /// The default is `.unknown` at every placement. Caches and coalescing closer to the caller cannot see what this
    /// interceptor adds. With an unknown principal they store and share nothing, and `APIClient.problems` and their
    /// events report that. Components closer to the transport see the additions on the request and do not call this
    /// method. An interceptor whose changes do not affect responses returns `.anonymous`, or is added with
    /// `changesPrincipal: false`.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal
    /// Whether `APIClient.preview` runs the interceptor. Default true; false for interceptors that need a response.
    var runsInPreview: Bool { get }
}

/// An interceptor whose configuration can be invalid, or that depends on the configuration of other interceptors.
public protocol ValidatingInterceptor: Interceptor {
    /// Declares facts that other interceptors depend on, such as a timeout or a budget, and the secret fields and query
    /// items that this one attaches (`Pipeline.Environment.fields`). Called for all interceptors before any
    /// `problem(in:)`.
    func declare(in setup: inout Pipeline.Environment)
    /// Returns the configuration error of the interceptor in the client that `setup` describes; nil if the
    /// configuration is valid. Every call throws the error.
    func problem(in setup: Pipeline.Environment) -> String?
    /// Returns a warning about a configuration that works but is probably not intended; nil if there is none. A warning
    /// does not prevent calls. `APIClient.problems` lists it.
    func warning(in setup: Pipeline.Environment) -> String?
}

/// An interceptor that must load data once, such as tokens from a file or a keychain, before `principal(of:in:)` can
/// return the principal.
public protocol PreparingInterceptor: Interceptor {
    /// Loads the data, unless it has been loaded. Called before `principal(of:in:)` where responses are stored or
    /// shared, never concurrently for one call. Waits at most until the deadline of `context`. Does not throw: if
    /// loading fails, the principal stays unknown, and the call itself throws the error.
    func prepare(in context: ExchangeContext) async
}

/// An interceptor that is notified of calls that do not reach the pipeline, because their request could not be built.
package protocol UnsentCallListener: Interceptor {
    func note(unsent error: NetworkError, in context: ExchangeContext)
}

extension ValidatingInterceptor {
    /// Declares nothing.
    public func declare(in setup: inout Pipeline.Environment) {}

    /// Returns nil: there is no error.
    public func problem(in setup: Pipeline.Environment) -> String? { nil }

    /// Returns nil: there is no warning.
    public func warning(in setup: Pipeline.Environment) -> String? { nil }
}

extension Interceptor {
    /// The default placement, `.custom`.
    public var placement: Placement { .custom }

    /// Returns `.unknown`, because the interceptor may attach anything.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .unknown }

    /// True: a preview runs the interceptor and shows its effect on the request.
    public var runsInPreview: Bool { true }

    /// The name of the interceptor in the description of a pipeline: its own description, or else the name of its type
    /// without `Interceptor`.
    package var label: String {
        if let described = self as? any CustomStringConvertible { return described.description }
        let name = String(describing: Self.self)
        return name.hasSuffix("Interceptor") ? String(name.dropLast("Interceptor".count)) : name
    }
}

/// The place of an interceptor in the standard pipeline, from the caller to the transport.
///
/// Interceptors to the right of `.redirects` run once per hop, those to the right of `.retry` once per attempt, and
/// those to the right of `.hedging` once per request on the wire.
public enum Placement: Int, Comparable, Sendable, CaseIterable {
    /// Outermost: logs the call as its caller sees it, once.
    case logging
    /// Limits the total time of a call, or changes the call, once.
    case totalDeadline
    /// Provides a response in place of a failed call, once.
    case fallback
    /// Follows redirects.
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
    /// Stops sending to origins that keep failing, once per request on the wire.
    case circuitBreaker
    /// Limits the rate of requests, once per request on the wire.
    case rateLimit
    /// Limits the number of concurrent exchanges, once per request on the wire.
    case concurrencyLimit
    /// The place of interceptors that need no specific one. They run once per request on the wire, before credentials
    /// are attached, in the order in which they were added.
    case custom
    /// Attaches credentials, and sends the request once more after a 401.
    case authentication
    /// Adds fields to each request on the wire, such as those of a trace, before the request is signed.
    case fields
    /// Signs the request in its final form.
    case signing
    /// Limits the time until the response head of one request arrives.
    case attemptTimeout
    /// Innermost: sees each request as it is sent.
    case wire

    /// Returns true if `left` is closer to the caller.
    public static func < (left: Placement, right: Placement) -> Bool {
        left.rawValue < right.rawValue
    }
}
