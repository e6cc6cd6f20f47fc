// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// The interceptor of `.bearer(store)`, where its rules are documented.
package struct TokenInterceptor: ValidatingInterceptor, PreparingInterceptor {
    private let store: TokenStore
    private let scope: CredentialScope
    private let name: String?
    private let renew: (@Sendable (Tokens?, APIClient) async throws -> Tokens)?
    private let canObtain: Bool

    /// Creates an interceptor for one origin.
    public init(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        refresh: (@Sendable (TokenStore.Refresh) async throws -> Tokens)? = nil
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
            return try await refresh(TokenStore.Refresh(tokens: tokens, client: client))
        }
    }

    /// Creates an interceptor for tokens that the client obtains without a sign-in.
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

    /// False: a query of the store may load, wait or refresh.
    public var runsInPreview: Bool { false }

    /// Attaches the token, and sends the request once more after a 401.
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
        // The 401 response may hold the connection that the refresh needs, so its body is read before the call waits.
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

    /// - `again`: the context of a second attempt with newer tokens.
    private func send(
        _ request: HTTPRequest, _ issued: IssuedTokens, _ next: Next, again: ExchangeContext? = nil
    ) async throws -> HTTPResponse {
        var request = request
        request.headers[.authorization] = "Bearer \(issued.tokens.accessToken)"
        let response =
            if let again { try await next.again(request, in: again.authenticated) } else {
                try await next(request, context: next.context.authenticated)
            }
        // Recording the date requires a hop to the store, which calls with tokens of unknown lifetime can skip.
        if issued.life != nil, let date = response.headers[.date].flatMap({ HTTPDate($0) })?.date {
            await store.learn(serverDate: date)
        }
        return response
    }

    /// A refresh bypasses the rest of the pipeline: it must not wait for a permit that its caller holds. It is a
    /// separate call for the observers and the log of that client.
    private func renewal(for origin: Origin, _ next: Next) -> TokenStore.Renewal? {
        guard let renew else { return nil }
        return TokenStore.Renewal(canObtain: canObtain) { tokens in
            let context = next.context
            let logs = next.all((any UnsentCallListener).self).filter { $0.placement == .logging }
            let client = APIClient(
                baseURL: BaseURL(origin: origin), pipeline: Pipeline(logs), transport: next.transport,
                configuration: APIClient.Configuration(time: context.time, fields: context.fields),
                tellingObserversOf: context)
            return try await renew(tokens, client)
        }
    }

    /// Loads the stored tokens, so that the first call of a process finds the cached responses of its user.
    public func prepare(in context: ExchangeContext) async {
        guard context.authentication != .anonymous, store.principal == .unknown else { return }
        try? await store.load(until: context.deadline, on: context.time)
    }

    /// The signed-in principal: unchanged by refreshes and different after the next sign-in. `.unknown` until the store
    /// has loaded the stored tokens, and while it must still obtain tokens.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context, name: name), !request.headers.contains(.authorization) else {
            return .anonymous
        }
        let principal = store.principal
        return principal == .anonymous && canObtain ? .unknown : principal
    }

    /// Reports a missing origin, or one to which the token would be sent unencrypted.
    public func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The token", in: setup) { ".bearer(store, for: \"\($0)\")" }
    }
}

extension TokenStore {
    /// The input of a refresh.
    public struct Refresh: Sendable {
        /// The tokens to refresh.
        public let tokens: Tokens
        /// A client for the origin of the tokens, over the same connections and without interceptors except
        /// `.logging()`. Its paths begin at the root of the origin. The observers of the original client are notified
        /// of its calls.
        public let client: APIClient
    }
}

extension TokenInterceptor: CustomStringConvertible {
    /// `Bearer`, with the origin if one was specified. Never a token.
    public var description: String { scope.label(name.map { "Bearer \($0)" } ?? "Bearer") }
}
