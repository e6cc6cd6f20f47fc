// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Changes each request by a closure. Made by `.onRequest { request, context in … }`.
///
/// A cache further out cannot know what the closure adds, and so keeps nothing, wherever the hook stands. Say
/// `changesWhoseAnswer: false` if no answer depends on what the closure does (a request id, a trace), and the cache works
/// as without it. Or put the hook outside of the cache, such as `.onRequest(at: .cookies) { … }`, and the cache sees what
/// is added: each value of a field that is not known to be harmless has entries of its own.
///
/// What the closure adds belongs to the origin of the client's base URL. A request to another origin, by an absolute URL,
/// by `with(baseURL:)` or after a redirect, goes without the fields that it adds or changes, unless they are harmless or
/// declared (`FieldRules.harmless`), and without query items that have names of secrets. A hook for another origin names
/// it: `.onRequest(for: "https://cdn.example.com") { … }` runs for requests to that origin, and for no others.
public struct RequestHook: ScopedInterceptor, ValidatingInterceptor {
    /// Where it stands; `.custom` unless said otherwise, so it runs once for each attempt.
    public let placement: Placement
    /// False if no answer depends on what the closure does.
    public let changesWhoseAnswer: Bool
    private let owner: Owner
    private let body: @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void

    private enum Owner: Sendable {
        case client
        case origin(Origin)
        case unreadable(String)
    }

    /// A hook at `placement`. What `body` throws ends the call, before anything is sent by this attempt.
    public init(
        at placement: Placement = .custom, changesWhoseAnswer: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) {
        self.init(owner: .client, at: placement, changesWhoseAnswer: changesWhoseAnswer, body)
    }

    /// A hook for the requests to one origin: that of `url`, whose path is not looked at. A text that is no absolute URL
    /// is a problem of the pipeline.
    public init(
        for url: String, at placement: Placement = .custom, changesWhoseAnswer: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) {
        let owner: Owner
        do {
            owner = .origin(try HTTPRequest(url: url).origin)
        } catch {
            owner = .unreadable(error.detail)
        }
        self.init(owner: owner, at: placement, changesWhoseAnswer: changesWhoseAnswer, body)
    }

    private init(
        owner: Owner, at placement: Placement, changesWhoseAnswer: Bool,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) {
        self.owner = owner
        self.placement = placement
        self.changesWhoseAnswer = changesWhoseAnswer
        self.body = body
    }

    package var scope: InterceptorScope {
        if case .origin(let origin) = owner { .origin(origin) } else { .client }
    }

    /// An origin that cannot be read.
    public func problem(in setup: PipelineSetup) -> String? {
        if case .unreadable(let detail) = owner { "The hook has no origin to belong to. \(detail)" } else { nil }
    }

    private func concerns(_ request: HTTPRequest) -> Bool {
        switch owner {
        case .client: true
        case .origin(let origin): request.origin == origin
        case .unreadable: false
        }
    }

    /// `.unknown`, since the closure may attach anything, unless it was said that no answer depends on it.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        changesWhoseAnswer && concerns(request) ? .unknown : .anonymous
    }

    /// Runs the closure on a copy of the request, then the rest of the chain with it.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard concerns(request) else { return try await next(request) }
        var request = request
        try await body(&request, next.context)
        return try await next(request)
    }
}

/// Looks at each response by a closure. Made by `.onResponse { response, context in … }`.
///
/// It runs when the head is there, for every status. The body can be read once only: leave it to the caller.
public struct ResponseHook: Interceptor {
    /// Where it stands; `.custom` unless said otherwise, so it runs once for each attempt.
    public let placement: Placement
    private let body: @Sendable (HTTPResponse, ExchangeContext) async throws -> Void

    /// A hook at `placement`. What `body` throws ends the call instead of the response.
    public init(
        at placement: Placement = .custom,
        _ body: @escaping @Sendable (HTTPResponse, ExchangeContext) async throws -> Void
    ) {
        self.placement = placement
        self.body = body
    }

    /// False: there is no answer.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the chain, then the closure.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        next.context.secrets.declare(in: &response.headers)
        try await body(response, next.context)
        return response
    }
}

/// Hears of each failure by a closure. Made by `.onError { error, context in … }`.
///
/// It runs when there is no answer: a connection that fails, a timeout, an interceptor further in that throws. A status
/// such as 404 is an answer here: `onResponse` sees it, and the typed call makes it an error afterwards. The error goes
/// on to the caller in any case. Cancellation is reported too; ask `error.isCancelled`.
public struct ErrorHook: Interceptor {
    /// Where it stands; `.custom` unless said otherwise, so it runs once for each attempt.
    public let placement: Placement
    private let body: @Sendable (NetworkError, ExchangeContext) async -> Void

    /// A hook at `placement`. The error goes on when `body` has returned.
    public init(
        at placement: Placement = .custom, _ body: @escaping @Sendable (NetworkError, ExchangeContext) async -> Void
    ) {
        self.placement = placement
        self.body = body
    }

    /// False: nothing can fail.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes nothing.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the chain, and the closure if that throws.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        do {
            return try await next(request)
        } catch {
            var failure = NetworkError(error)
            if failure.request == nil { failure.request = RequestLine(request) }
            failure = failure.withholding(next.context.secrets)
            await body(failure, next.context)
            throw failure
        }
    }
}

extension RequestHook: CustomStringConvertible {
    /// `onRequest`, with the origin if one was named.
    public var description: String {
        if case .origin(let origin) = owner { "onRequest(\(origin))" } else { "onRequest" }
    }
}

extension ResponseHook: CustomStringConvertible {
    /// `onResponse`
    public var description: String { "onResponse" }
}

extension ErrorHook: CustomStringConvertible {
    /// `onError`
    public var description: String { "onError" }
}
