// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Sends the access token of a `TokenStore` with the requests to one origin, and renews it when it has ended.
///
///     .bearer(store) { try await $0.client.send(.refresh($0.tokens.refreshToken)) }
///
/// Whose requests get the token is decided by the rules of `BearerInterceptor`. What is added:
/// - Tokens that have ended are renewed before the call goes out; those about to end, while it does.
/// - A call answered 401 is sent once more with newer tokens of the same sign-in: those that have come meanwhile, or the
///   result of a refresh. A second 401 is the answer, and so is one that comes after a sign-out or another sign-in. A
///   body that cannot be sent again is not; its 401 is the answer, and the refresh begins for the calls that follow.
/// - What a refresh fails with is thrown, see `TokenStore`. A call never waits longer than its own deadline.
/// - The server's clock is learnt from the `Date` of its answers, so tokens end when the server thinks so.
public struct TokenInterceptor: ValidatingInterceptor, PreparingInterceptor {
    private let store: TokenStore
    private let scope: CredentialScope
    private let name: String?
    private let renew: (@Sendable (Tokens?, APIClient) async throws -> Tokens)?
    private let canObtain: Bool

    /// Tokens for one origin.
    ///
    /// - `url`: whose origin gets the tokens; nil for that of the client's base URL.
    /// - `name`: which calls ask for these tokens with `.named`; nil for all that name none.
    /// - `refresh`: gets new tokens. It runs once for all calls that wait, on a task of its own. What it sends through a
    ///   client with this interceptor goes without a token. To say that the tokens cannot be renewed any more, where the
    ///   server does not say `invalid_grant`, throw `NetworkError(.notAuthenticated(.refreshRefused))`. Nil if tokens are
    ///   not renewed: then a 401 is simply the answer.
    public init(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        refresh: (@Sendable (TokenRefresh) async throws -> Tokens)? = nil
    ) {
        self.store = store
        scope = url.map { .url($0) } ?? .client
        self.name = name
        canObtain = false
        guard let refresh else {
            renew = nil
            return
        }
        renew = { tokens, client in
            guard let tokens else { throw NetworkError(.notAuthenticated(.missingCredential)) }
            return try await refresh(TokenRefresh(tokens: tokens, client: client))
        }
    }

    /// Tokens that the client gets by itself, without anybody signing in: the first call waits for them, and they are
    /// obtained anew when they have ended.
    ///
    /// - `obtain`: gets tokens, with a client for their origin as `TokenRefresh` has one. Runs once for all calls.
    public init(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        obtain: @escaping @Sendable (APIClient) async throws -> Tokens
    ) {
        self.store = store
        scope = url.map { .url($0) } ?? .client
        self.name = name
        canObtain = true
        renew = { _, client in try await obtain(client) }
    }

    /// `.authentication`.
    public var placement: Placement { .authentication }

    /// False: asking the store may load, wait or refresh.
    public var runsInPreview: Bool { false }

    /// Attaches the token, and sends once more after a 401.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.covers(request, in: next.context, name: name), !request.headers.contains(.authorization),
            !store.isRenewing
        else { return try await next(request) }
        let (deadline, clock) = (next.context.deadline, next.context.time)
        let renewal = renewal(for: request.origin, next)
        guard let issued = try await store.issued(until: deadline, on: clock, by: renewal) else {
            return try await next(request)
        }
        var response = try await send(request, issued, next)
        guard response.status == .unauthorized else { return response }
        guard request.body.canReplay else {
            await store.refuse(issued.version, by: renewal)
            return response
        }
        // The refused response may hold the connection that the refresh needs, so it is read before the call waits.
        response.body = try await response.body.settled(on: clock)
        let body = response.body
        let newer: IssuedTokens?
        do {
            newer = try await store.issued(refused: issued.version, until: deadline, on: clock, by: renewal) {
                body.cancel()
            }
        } catch {
            body.cancel()
            throw error
        }
        guard let newer, newer.version != issued.version else { return response }
        response.body.cancel()
        return try await send(request, newer, next, again: next.context.following(response, because: .renewed))
    }

    /// - `again`: the context of a second sending.
    private func send(
        _ request: HTTPRequest, _ issued: IssuedTokens, _ next: Next, again: ExchangeContext? = nil
    ) async throws -> HTTPResponse {
        var request = request
        request.headers[.authorization] = "Bearer \(issued.tokens.accessToken)"
        let response =
            if let again { try await next.again(request, in: again.authenticated) } else {
                try await next(request, context: next.context.authenticated)
            }
        // Learning costs a visit to the store, which calls with tokens of unknown life need not pay.
        if issued.life != nil, let date = response.headers[.date].flatMap({ HTTPDate($0) })?.date {
            await store.learn(serverDate: date)
        }
        return response
    }

    /// A refresh goes past the rest of the pipeline: it must not wait for a place that its caller holds. It is a call of its
    /// own for the observers and the log of that client.
    private func renewal(for origin: Origin, _ next: Next) -> TokenStore.Renewal? {
        guard let renew else { return nil }
        return TokenStore.Renewal(canObtain: canObtain) { tokens in
            let context = next.context
            let logs = next.all(LoggingInterceptor.self).filter { $0.placement == .logging }
            let client = APIClient(
                APIClient.Core(
                    baseURL: BaseURL(origin: origin), pipeline: Pipeline(logs), transport: next.transport,
                    configuration: ClientConfiguration(time: context.time, fields: context.fields),
                    events: context.events))
            return try await renew(tokens, client)
        }
    }

    /// Loads the tokens that were kept, so that the first call of a process finds what is stored for its user.
    public func prepare(in context: ExchangeContext) async {
        guard context.authentication != .anonymous, store.principal == .unknown else { return }
        try? await store.load(until: context.deadline, on: context.time)
    }

    /// Whoever has signed in, the same through all refreshes and another one after the next sign-in. `.unknown` as long
    /// as the store has not loaded what was kept, or has yet to obtain tokens.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context, name: name), !request.headers.contains(.authorization) else {
            return .anonymous
        }
        let principal = store.principal
        return principal == .anonymous && canObtain ? .unknown : principal
    }

    /// No origin to belong to, or one to which the token would travel in plain sight.
    public func problem(in setup: PipelineSetup) -> String? {
        scope.problem(of: "The token", in: setup) { ".bearer(store, for: \"\($0)\")" }
    }
}

/// What a refresh has to work with.
public struct TokenRefresh: Sendable {
    /// The tokens to renew.
    public let tokens: Tokens
    /// A client for the origin of the tokens, over the same connections and without interceptors but `.logging()`. Its
    /// paths begin at the root of the origin. The observers of the client whose tokens they are hear of its calls.
    public let client: APIClient
}

extension TokenInterceptor: CustomStringConvertible {
    /// `Bearer`, with the origin if one was named. Never a token.
    public var description: String { scope.label(name.map { "Bearer \($0)" } ?? "Bearer") }
}
