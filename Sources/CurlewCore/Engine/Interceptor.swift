// SPDX-License-Identifier: MIT

/// Policy around an exchange: sees the request on its way out and the response on its way back.
///
/// An interceptor may change the request, answer without asking, ask more than once, or change the response:
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
/// - The chain unwinds when the response *head* is there. Work on the body wraps `response.body`; code after `next`
///   does not wait for it. Totals belong to a `RequestObserver`.
/// - State that several calls share sits in one private lock or actor of the interceptor.
/// - Errors of any kind may be thrown; the caller sees a `NetworkError`.
/// - For a test of one interceptor, make its `Next` from a closure: `Next { request, context in … }`.
/// - What is wrong with the way one is set up is told by `ValidatingInterceptor`.
public protocol Interceptor: Sendable {
    /// Runs the rest of the chain through `next`, as often as it needs to. The one requirement without a default.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse
    /// Where `Pipeline.adding(_:)` puts it, unless that is said there. Default `.custom`.
    var placement: Placement { get }
    /// Whose credential it would attach to `request` now, told without I/O; asked by what keeps or shares answers
    /// (`Next.principal(of:)`) and by `APIClient.problems`, and never otherwise.
    ///
    /// The default is `.unknown` at every placement: a cache, or a shared exchange, further out cannot see what is added
    /// here, so it keeps and shares nothing, and says so in `APIClient.problems` and in its verdicts. Those further in
    /// see it on the request, and do not ask. An interceptor that changes nothing on which answers depend returns
    /// `.anonymous`, or is added with `changesWhoseAnswer: false`.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal
    /// Whether `APIClient.preview` runs it. Default true; false for what only makes sense with an answer.
    var runsInPreview: Bool { get }
}

/// An interceptor that can be set up in a way that cannot work, or has to know how others are set up.
public protocol ValidatingInterceptor: Interceptor {
    /// Tells what others of the pipeline have to fit, such as a timeout or a budget, and which fields and query items that
    /// it attaches are secret (`PipelineSetup.fields`). Asked of all before any `problem(in:)`.
    func declare(in setup: inout PipelineSetup)
    /// What is wrong with the way it is set up, given the client; nil when it can work. Every call throws it.
    func problem(in setup: PipelineSetup) -> String?
    /// What works, but hardly as it was meant; nil when all is well. Calls are made; `APIClient.problems` names it.
    func warning(in setup: PipelineSetup) -> String?
}

/// An interceptor that has to load something, once, before `principal(of:in:)` can tell whose credential it attaches:
/// tokens from a file or a keychain.
public protocol PreparingInterceptor: Interceptor {
    /// Loads it, unless that is done. Called before `principal(of:in:)` where answers are kept or shared, never from
    /// several places of one call at once. Waits no longer than the deadline of `context`; fails silently, since the
    /// principal then stays unknown and the call itself meets the error.
    func prepare(in context: ExchangeContext) async
}

/// An interceptor that is told of calls that never get to the pipeline, because no request could be made of them.
protocol UnsentCallListener: Interceptor {
    func note(unsent error: NetworkError, in context: ExchangeContext)
}

extension ValidatingInterceptor {
    /// Nothing to tell.
    public func declare(in setup: inout PipelineSetup) {}

    /// Nothing to object.
    public func problem(in setup: PipelineSetup) -> String? { nil }

    /// Nothing to remark.
    public func warning(in setup: PipelineSetup) -> String? { nil }
}

extension Interceptor {
    /// `.custom`.
    public var placement: Placement { .custom }

    /// `.unknown`: it may attach anything.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .unknown }

    /// True: a preview shows what it does to the request.
    public var runsInPreview: Bool { true }

    /// How it appears in a pipeline's description. The type's name without `Interceptor`.
    package var label: String {
        if let described = self as? any CustomStringConvertible { return described.description }
        let name = String(describing: Self.self)
        return name.hasSuffix("Interceptor") ? String(name.dropLast("Interceptor".count)) : name
    }
}

/// Places in the standard pipeline, from the caller to the wire.
///
/// Everything right of `.redirects` runs once for each hop, everything right of `.retry` once for each attempt, right of
/// `.hedging` once for each sending.
public enum Placement: Int, Comparable, Sendable, CaseIterable {
    /// Outermost: sees the call as its caller does, once.
    case logging
    /// What bounds or changes the call as a whole, once.
    case totalDeadline
    /// Answers in place of a call that has failed, once.
    case fallback
    /// Follows redirects.
    case redirects
    /// Asks over https where that is due, once for each hop.
    case transportSecurity
    /// Adds and takes cookies, once for each hop.
    case cookies
    /// Lets calls share an exchange, once for each hop.
    case coalescing
    /// Answers from what is stored, once for each hop.
    case caching
    /// Tries again.
    case retry
    /// Sends a second time beside the first.
    case hedging
    /// Gives up origins that keep failing, once for each sending.
    case circuitBreaker
    /// Keeps a pace, once for each sending.
    case rateLimit
    /// Keeps a number of exchanges, once for each sending.
    case concurrencyLimit
    /// Interceptors that name no place: once for each attempt, before credentials are attached, in the order added.
    case custom
    /// Attaches credentials, and sends once more after a 401.
    case authentication
    /// Changes how the body of the request is coded, before it is signed.
    case compression
    /// Signs the request as it goes to the wire.
    case signing
    /// Bounds one sending.
    case attemptTimeout
    /// Innermost: sees each request as it goes to the wire.
    case wire

    /// Further out.
    public static func < (left: Placement, right: Placement) -> Bool {
        left.rawValue < right.rawValue
    }
}
