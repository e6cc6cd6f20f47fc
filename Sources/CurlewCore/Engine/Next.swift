// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The rest of the chain: the interceptors further in, and the transport.
///
/// A small value that may be kept, called again, and called from another task. It is a nominal type on purpose: a
/// closure type in a protocol requirement would not match in modules that are built with other concurrency defaults.
public struct Next: Sendable {
    /// What travels beside the request.
    public let context: ExchangeContext

    private let links: Chain
    private let position: Int
    /// What the interceptor got that holds this value, if that was for another origin than its own.
    private let received: Received?

    init(context: ExchangeContext, chain: Chain, position: Int = 0) {
        self.init(context: context, chain: chain, position: position, received: nil)
    }

    private init(context: ExchangeContext, chain: Chain, position: Int, received: Received?) {
        self.context = context
        links = chain
        self.position = position
        self.received = received
    }

    private final class Received: Sendable {
        let request: HTTPRequest

        init(_ request: HTTPRequest) { self.request = request }
    }

    /// The interceptors of this type, anywhere in the chain.
    func all<Found: Interceptor>(_ type: Found.Type) -> [Found] {
        links.interceptors.compactMap { (($0 as? PlacedInterceptor)?.base ?? $0) as? Found }
    }

    package var transport: any Transport { links.transport }
    /// Tells chains apart: equal numbers mean the same interceptors over the same transport.
    var chain: UInt64 { links.number }

    /// A chain that is one closure, for tests of an interceptor.
    public init(
        context: ExchangeContext = ExchangeContext(),
        _ answer: @escaping @Sendable (HTTPRequest, ExchangeContext) async throws -> HTTPResponse
    ) {
        self.init(context: context, chain: Chain([], ClosureTransport(changesWhoseAnswer: false, answer)))
    }

    /// Runs the rest of the chain.
    ///
    /// - `context`: a changed copy (another attempt, another hop) for what lies further in; nil passes this one on.
    public func callAsFunction(
        _ request: HTTPRequest, context changed: consuming ExchangeContext? = nil
    ) async throws -> HTTPResponse {
        if links.isScoped { return try await scoped(request, changed ?? context) }
        guard position < links.interceptors.count else { return try await leave(request, changed ?? context) }
        let rest = Next(context: changed ?? context, chain: links, position: position + 1)
        return try await links.interceptors[position].intercept(request, next: rest)
    }

    /// The same in a chain with interceptors that attach something for one origin each.
    private func scoped(_ request: HTTPRequest, _ context: ExchangeContext) async throws -> HTTPResponse {
        var request = request
        if links.isForeign(request, to: position - 1, in: context) {
            request = request.withoutAdditions(to: received?.request, in: context)
        }
        guard position < links.interceptors.count else { return try await leave(request, context) }
        let isForeign = links.isForeign(request, to: position, in: context)
        let rest = Next(
            context: context, chain: links, position: position + 1, received: isForeign ? Received(request) : nil)
        return try await links.interceptors[position].intercept(request, next: rest)
    }

    /// Whose answer `request` would get: by its fields, of which each counts that is not known to be harmless, by what
    /// the interceptors further in would attach, and by what the transport attaches. Costs nothing unless asked; no I/O.
    ///
    /// For interceptors that keep or share answers:
    /// - Call `prepare()` first, once.
    /// - The principal is a part of each key. `.unknown` is none: such an answer is neither kept nor shared.
    /// - Ask once more when the answer is there. Somebody may have signed in or out meanwhile, so an answer is kept or
    ///   shared only if both times gave the same.
    /// - What outlives the process keeps nothing of a principal that is known and not lasting.
    public func principal(of request: HTTPRequest) -> Principal {
        principal(of: request, key: nil)
    }

    /// The same with credentials hashed by a key of the caller's; nil takes that of the process.
    package func principal(of request: HTTPRequest, key: PrincipalKey?) -> Principal {
        if let key { return with(context.hashing(with: key)).principal(of: request, key: nil) }
        var principal = Principal(of: request, in: context)
        for interceptor in links.interceptors[position...] {
            principal.join(interceptor.principal(of: request, in: context))
        }
        principal.join(transport.principal(of: request, in: context))
        return principal
    }

    /// Whose answer `request` would get by what the transport attaches alone.
    func place(of request: HTTPRequest, key: PrincipalKey?) -> Principal {
        if let key { return with(context.hashing(with: key)).place(of: request, key: nil) }
        return transport.principal(of: request, in: context)
    }

    /// The same rest of the chain, for another context.
    func with(_ context: ExchangeContext) -> Next {
        Next(context: context, chain: links, position: position, received: received)
    }

    /// Whether `prepare()` has anything to do.
    var needsPreparation: Bool { !links.preparing.isEmpty }

    /// Lets the interceptors further in load what they need to tell whose credential they attach.
    public func prepare() async {
        for each in links.preparing where each.place >= position { await each.interceptor.prepare(in: context) }
    }

    /// Who keeps the principal of `request` from being known: the names of interceptors further in and of the transport.
    package func strangers(to request: HTTPRequest) -> [String] {
        var names = links.interceptors[position...].filter { $0.principal(of: request, in: context) == .unknown }
            .map(\.label)
        if transport.principal(of: request, in: context) == .unknown { names.append(transport.label) }
        return names
    }

    /// Whether a credential goes with `request`, or would be attached further in. What is only a field of an unknown
    /// name is none, and what says nothing of itself is one.
    func attachesCredential(to request: HTTPRequest) -> Bool {
        context.isAuthenticated || request.headers.contains(.authorization)
            || links.interceptors[position...].contains { $0.principal(of: request, in: context) != .anonymous }
    }

    /// The call demands a credential, and here is the last place to see that none was attached.
    private static func checkCredential(of request: HTTPRequest, _ context: ExchangeContext) throws {
        let isThere = context.isAuthenticated || request.headers.contains(.authorization)
        guard !isThere, !context.crossedOrigin else { return }
        throw NetworkError(
            .notAuthenticated(.missingCredential),
            detail: "The call must go with a credential (\(context.authentication)), and none was attached.",
            hint: "Sign in first, or add the credential's interceptor to the pipeline.", request: RequestLine(request))
    }

    /// The request leaves the pipeline. Interceptors change requests, so what they made is checked here, once, before any
    /// byte does.
    ///
    /// - `isReady`: the request is as the transport gets it.
    private func leave(
        _ request: HTTPRequest, _ context: consuming ExchangeContext, isReady: Bool = false
    ) async throws -> HTTPResponse {
        // Most requests stay at their origin and have nothing declared: those are not copied.
        if !isReady, context.crossedOrigin || !context.secrets.isEmpty || !request.secrets.isEmpty {
            return try await leave(request.ready(in: context), context, isReady: true)
        }
        try request.validate()
        if context.authentication.isDemanding { try Self.checkCredential(of: request, context) }
        try context.askPolicies()
        if context.isObserved { context = context.beginSending() }
        context.record(.sent(request))
        do {
            var response = try await transport.send(request, in: context)
            request.secrets.declare(in: &response.headers)
            response.limitBody(in: context)
            if context.queued > .zero { response.metrics.queue = (response.metrics.queue ?? .zero) + context.queued }
            return context.isObserved ? context.telling(of: response) : response
        } catch {
            var failure = NetworkError(error)
            if failure.request == nil { failure.request = RequestLine(request) }
            context.record(.attemptFailed(failure))
            // Interceptors further out may show it.
            if !context.secrets.isEmpty, let known = error as? NetworkError {
                throw known.withholding(context.secrets)
            }
            throw error
        }
    }
}

extension ExchangeContext {
    /// Asks the policies once more, and sets the deadline of the attempt if nobody further out has.
    fileprivate mutating func askPolicies() throws {
        if departure == nil, timeouts.attempt == nil { return }
        let now = time.now
        var policy = departure
        while let asked = policy {
            try asked.leave(at: now, in: self)
            policy = asked.outer
        }
        if attemptDeadline == .never { attemptDeadline = Deadline(timeouts.attempt, after: now) }
    }

    /// Tells the observers of a response. They hear of the end of its body too.
    fileprivate func telling(of response: HTTPResponse) -> HTTPResponse {
        record(.answered(response))
        var response = response
        response.body = watchEnd(of: response.body)
        return response
    }
}

extension Next: CustomReflectable {
    /// Shows the context only, to debuggers and `dump` too: the chain holds credentials.
    public var customMirror: Mirror { Mirror(self, children: ["context": context]) }
}

extension HTTPResponse {
    /// Puts the body under the limit of its call. A transport of one's own makes bodies that know nothing of it.
    fileprivate mutating func limitBody(in context: ExchangeContext) {
        let limit = context.limits.responseBody
        if body.limit != limit { body = body.limited(to: limit) }
    }
}

extension HTTPRequest {
    /// The request with what is declared, also if an interceptor has made it anew, and without what must not go to a foreign
    /// origin.
    fileprivate func ready(in context: ExchangeContext) -> HTTPRequest {
        var request = (context.crossedOrigin ? forForeignOrigin(in: context) : self).knowing(context.secrets)
        request.secrets.declare(in: &request.headers)
        return request
    }

    /// The request without what an interceptor attached although a redirect has left the origin of the call: an origin
    /// that the server chose gets only fields that are known to be harmless or were declared, whatever adds them.
    /// Cookies that the client's jar has for it are its own.
    private func forForeignOrigin(in context: ExchangeContext) -> HTTPRequest {
        var request = self
        let allowed = context.forwardedFields
        for field in headers where !allowed.allow(field.name) {
            if field.name == .cookie, headers[.cookie] == context.jarCookie { continue }
            request.headers.remove(field.name)
        }
        return request
    }
}
