// SPDX-License-Identifier: MIT

package import CurlewFoundation
import CurlewHTTP

/// The rest of the pipeline: the interceptors closer to the transport, and the transport.
///
/// `Next` is a small value that may be stored, called several times, and called from another task. It is a nominal type
/// because a closure type in a protocol requirement would not match in modules with other concurrency defaults.
public struct Next: Sendable {
    /// The context of the request that the interceptor received.
    public let context: ExchangeContext

    private let links: Chain
    private let position: Int
    /// The request as the calling interceptor received it; nil unless that request was for another origin than its own.
    private let received: Boxed<HTTPRequest>?

    init(context: ExchangeContext, chain: Chain, position: Int = 0) {
        self.init(context: context, chain: chain, position: position, received: nil)
    }

    private init(context: ExchangeContext, chain: Chain, position: Int, received: Boxed<HTTPRequest>?) {
        self.context = context
        links = chain
        self.position = position
        self.received = received
    }

    /// The interceptors of the pipeline that also run for the requests that refresh a token.
    package var refreshPipeline: Pipeline { Pipeline(entries: links.entries.filter(\.traits.runsInRefreshes)) }

    /// The budget that the retries and second requests of the pipeline draw on: `Pipeline.retryBudget`.
    package var retryBudget: RetryBudget? { links.retryBudget }

    /// The transport of the client, for requests of an interceptor's own. They are sent even during a preview.
    package var transport: any Transport { (links.transport as? PreviewTransport)?.onward ?? links.transport }
    /// The identity of the chain: equal numbers mean the same interceptors over the same transport.
    package var chain: UInt64 { links.number }

    /// Creates a value that calls a closure in place of the rest of the pipeline, for tests of an interceptor. The
    /// closure receives only valid requests, as a transport does, and attaches no credential (`principal(of:)`).
    public init(
        context: ExchangeContext = ExchangeContext(),
        _ answer: @escaping @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse
    ) {
        self.init(context: context, chain: Chain([], ClosureTransport(changesPrincipal: false, answer)))
    }

    /// Runs the rest of the pipeline with `request` and returns the response. Throws the error of an interceptor or of
    /// the transport, `.invalidRequest` for a request that cannot be sent, and `.notAuthenticated(.missingCredential)`
    /// if the call requires a credential and none was attached.
    ///
    /// - `context`: the context for the rest of the pipeline, such as a copy for another attempt or hop. Nil passes on
    ///   the context of this value.
    public func callAsFunction(
        _ request: HTTPRequest, context changed: consuming ExchangeContext? = nil
    ) async throws -> HTTPResponse {
        if links.isScoped { return try await scoped(request, changed ?? context) }
        guard position < links.interceptors.count else { return try await sendToTransport(request, changed ?? context) }
        let inner = Next(context: changed ?? context, chain: links, position: position + 1)
        return try await links.interceptors[position].intercept(request, next: inner)
    }

    /// Runs the rest of a pipeline in which the additions of an interceptor are restricted to one origin.
    private func scoped(_ request: HTTPRequest, _ context: ExchangeContext) async throws -> HTTPResponse {
        var request = request
        if links.isForeign(request, to: position - 1, in: context) {
            request = request.withoutAdditions(to: received?.value, in: context)
        }
        guard position < links.interceptors.count else { return try await sendToTransport(request, context) }
        let isForeign = links.isForeign(request, to: position, in: context)
        let inner = Next(
            context: context, chain: links, position: position + 1, received: isForeign ? Boxed(request) : nil)
        return try await links.interceptors[position].intercept(request, next: inner)
    }

    /// Returns the principal of the response to `request`, determined by the request fields that are not known to be
    /// harmless, by what the remaining interceptors would attach, and by what the transport attaches. Does not wait.
    ///
    /// For interceptors that store or share responses:
    /// - Make the principal a part of each key. Responses for `.unknown` must be neither stored nor shared. The
    ///   principal is also unknown until an interceptor has loaded its credential (`InterceptorTraits.prepare`).
    /// - Call this method again when the response has arrived, because the user may have signed in or out. Store or
    ///   share the response only if both principals are equal.
    /// - A store that outlives the process must store nothing for a known principal that is not lasting.
    public func principal(of request: HTTPRequest) -> Principal {
        principal(of: request, key: nil)
    }

    /// Returns the principal, with credentials hashed with `key`, which later processes have too. If `key` is nil, the
    /// key of the context applies, or else that of the process.
    package func principal(of request: HTTPRequest, key: Data?) -> Principal {
        if let key {
            var context = context
            context.principalKey = PrincipalKey(bytes: key, isLasting: true)
            return with(context).principal(of: request, key: nil)
        }
        var principal = Principal(of: request, in: context)
        for each in links.principals[position...] { principal.join(each(request, context)) }
        principal.join(links.transport.principal(of: request, in: context))
        return principal
    }

    /// Returns the same rest of the pipeline with another context.
    package func with(_ context: ExchangeContext) -> Next {
        Next(context: context, chain: links, position: position, received: received)
    }

    /// Lets the remaining interceptors load the data that they need to return a principal, one after the other. Call
    /// this method before `principal(of:)`, once per call.
    package func prepare() async {
        for each in links.preparations where each.position >= position { await each.prepare(context) }
    }

    /// Returns the names of the remaining interceptors, and of the transport, that make the principal of `request`
    /// unknown.
    package func unknownPrincipals(for request: HTTPRequest) -> [String] {
        var names = links.entries[position...].filter { $0.traits.principal(request, context) == .unknown }.map(\.label)
        if links.transport.principal(of: request, in: context) == .unknown { names.append(links.transport.label) }
        return names
    }

    /// Returns whether the call demands a credential, but `request` has none, and the remaining interceptors would
    /// attach none. A field with an unknown name does not count as a credential. An interceptor with an unknown
    /// principal counts as one that would attach a credential.
    package func lacksCredential(_ request: HTTPRequest) -> Bool {
        context.authentication.isDemanding && !context.isAuthenticated && !request.headers.contains(.authorization)
            && links.principals[position...].allSatisfy { $0(request, context) == .anonymous }
    }

    /// Throws if the call requires a credential and none is attached, unless a redirect has left the origin of the
    /// call. All interceptors that attach credentials have run before this check.
    private static func checkCredential(of request: HTTPRequest, _ context: ExchangeContext) throws {
        let isThere = context.isAuthenticated || request.headers.contains(.authorization)
        guard !isThere, !context.crossedOrigin else { return }
        throw NetworkError(
            .notAuthenticated(.missingCredential),
            detail: "The call requires a credential (\(context.authentication)), but none was attached.",
            hint: "Sign in first, or add the credential's interceptor to the pipeline.",
            request: NetworkError.RequestLine(request))
    }

    /// Sends the request to the transport, validated again if interceptors have changed it.
    ///
    /// - `isReady`: true if `ready(in:)` has returned the request.
    private func sendToTransport(
        _ request: HTTPRequest, _ context: consuming ExchangeContext, isReady: Bool = false
    ) async throws -> HTTPResponse {
        // Most requests are those of the call, stay at their origin and have no declared secrets. They need neither
        // changes nor another validation, so they are not copied.
        if !isReady,
            !request.isValidated || context.crossedOrigin || !context.secrets.isEmpty || !request.secrets.isEmpty
        {
            return try await sendToTransport(request.ready(in: context), context, isReady: true)
        }
        if context.authentication.isDemanding { try Self.checkCredential(of: request, context) }
        try context.checkPolicies()
        if context.isObserved { context.beginSending(request) }
        do {
            var response = try await links.transport.send(request, in: context)
            request.secrets.declare(in: &response.headers)
            // Custom transports create bodies without a limit.
            let limit = context.limits.responseBody
            if response.body.limit != limit { response.body = response.body.limited(to: limit) }
            if context.queued > .zero { response.metrics.add(queued: context.queued) }
            context.record(&response)
            return response
        } catch {
            context.recordFailure(
                NetworkError(error).withholding(context.secrets).naming(NetworkError.RequestLine(request)))
            // Interceptors closer to the caller may log the error, so its secrets are declared before they receive it.
            if !context.secrets.isEmpty, let known = error as? NetworkError {
                throw known.withholding(context.secrets)
            }
            throw error
        }
    }
}

extension ExchangeContext {
    /// Runs the send checks, and sets the deadline of the attempt unless it is set.
    fileprivate mutating func checkPolicies() throws {
        if sendCheck == nil, timeouts.attempt == nil { return }
        let now = time.now
        var policy = sendCheck
        while let current = policy {
            try current.leave(at: now, in: self)
            policy = current.outer
        }
        if attemptDeadline == .never { attemptDeadline = SystemTime.Deadline(timeouts.attempt, after: now) }
    }
}

extension Next: CustomReflectable {
    /// A mirror that shows only the context, because the interceptors hold credentials.
    public var customMirror: Mirror { Mirror(self, children: ["context": context]) }
}

extension HTTPRequest {
    /// Returns the request as the transport receives it: validated, with the declared secrets, even if an interceptor
    /// created the request, and without fields that must not be sent to a foreign origin.
    fileprivate func ready(in context: ExchangeContext) throws(NetworkError) -> HTTPRequest {
        var request = (context.crossedOrigin ? forForeignOrigin(in: context) : self).knowing(context.secrets)
        request.secrets.declare(in: &request.headers)
        return try request.validated()
    }

    /// Returns the request without the fields that must not be sent once a redirect has left the origin of the call. An
    /// origin that the server chose receives only fields that are known to be harmless or were declared, and those that
    /// an interceptor created for it.
    private func forForeignOrigin(in context: ExchangeContext) -> HTTPRequest {
        var request = self
        let allowed = context.forwardedFields
        for field in headers where !allowed.allow(field.name) {
            if let chosen = context.hopFields[field.name], headers[field.name] == chosen { continue }
            request.headers.remove(field.name)
        }
        return request
    }
}

/// The interceptors and the transport of a pipeline, shared by all exchanges of a client.
final class Chain: Sendable {
    let interceptors: [any Interceptor]
    let transport: any Transport
    /// The identity of the chain: equal numbers mean the same interceptors over the same transport.
    let number: UInt64
    /// The interceptors with their descriptions, in the same order.
    let entries: [Pipeline.Entry]
    /// `InterceptorTraits.principal` of each interceptor.
    let principals: [@Sendable (HTTPRequest, ExchangeContext) -> Principal]
    /// `InterceptorTraits.prepare` of the interceptors that have one, with their positions.
    let preparations: [(position: Int, prepare: @Sendable (ExchangeContext) async -> Void)]
    let retryBudget: RetryBudget?
    /// The scope of each interceptor; nil if none of them is restricted.
    private let scopes: [InterceptorTraits.Scope]?

    init(_ pipeline: Pipeline, _ transport: any Transport, number: UInt64 = Numbers.chains.next()) {
        let entries = pipeline.entries.filter { !$0.traits.onlyObserves }
        self.entries = entries
        self.transport = transport
        self.number = number
        interceptors = entries.map(\.interceptor)
        principals = entries.map(\.traits.principal)
        preparations = entries.enumerated().compactMap { position, entry in
            entry.traits.prepare.map { (position, $0) }
        }
        retryBudget = pipeline.retryBudget
        let scopes = entries.map(\.traits.scope)
        self.scopes = scopes.allSatisfy { $0 == .unrestricted } ? nil : scopes
    }

    /// True if the additions of at least one interceptor are restricted to one origin.
    var isScoped: Bool { scopes != nil }

    /// Returns whether the additions of the interceptor at `position` belong to an origin other than that of `request`.
    /// False if `position` is not an index of the interceptors.
    func isForeign(_ request: HTTPRequest, to position: Int, in context: ExchangeContext) -> Bool {
        guard let scopes, scopes.indices.contains(position) else { return false }
        switch scopes[position] {
        case .unrestricted: return false
        case .clientOrigin: return !(context.clientOrigin?.shares(with: request.origin) ?? !context.crossedOrigin)
        case .origin(let home): return !home.shares(with: request.origin)
        }
    }
}
