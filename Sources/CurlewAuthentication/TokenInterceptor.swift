// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Adds the access token of a `TokenStore` to the requests to one origin. For the rules, see
/// `.bearer(_:for:name:refresh:)`.
struct TokenInterceptor: Interceptor {
    private let store: TokenStore
    private let scope: CredentialScope
    private let renew: (@Sendable (Tokens?, APIClient) async throws -> Tokens)?
    private let canObtain: Bool

    init(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        refresh: (@Sendable (TokenStore.Refresh) async throws -> Tokens)? = nil
    ) {
        self.store = store
        scope = CredentialScope(url, name: name)
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
    init(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        obtain: @escaping @Sendable (APIClient) async throws -> Tokens
    ) {
        self.store = store
        scope = CredentialScope(url, name: name)
        canObtain = true
        renew = { _, client in try await obtain(client) }
    }

    /// A preview does not run the interceptor, because the store may have to load or refresh the tokens.
    var traits: InterceptorTraits {
        var traits = InterceptorTraits(.authentication, principal: principal(of:in:), problem: problem(in:))
        traits.prepare = prepare(in:)
        return traits
    }

    /// Adds the access token to a request that may receive it. After a 401, sends the request once more with newer
    /// tokens.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.admits(request, in: next.context), !store.isRenewing else { return try await next(request) }
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
        // The 401 response may hold the connection that the refresh needs, so its body is read before the call waits
        // for the refresh.
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

    /// Sends the request with the access token of `issued`.
    ///
    /// - `again`: the context of the second request, with newer tokens; nil for the first request.
    private func send(
        _ request: HTTPRequest, _ issued: IssuedTokens, _ next: Next, again: ExchangeContext? = nil
    ) async throws -> HTTPResponse {
        var request = request
        request.headers[.authorization] = "Bearer \(issued.tokens.accessToken)"
        let response =
            if let again { try await next.again(request, in: again.authenticated) } else {
                try await next(request, context: next.context.authenticated)
            }
        // Recording the date requires access to the store's actor. If the lifetime of the tokens is unknown, the date
        // is not needed.
        if issued.life != nil, let date = response.headers[.date].flatMap({ HTTPDate($0) })?.date {
            await store.learn(serverDate: date)
        }
        return response
    }

    /// Returns the operation that refreshes the tokens for `origin`; nil if they cannot be refreshed. Its requests
    /// bypass the pipeline except for the log, because they must not wait for a permit that the waiting call holds.
    /// Observers and the log receive them as separate calls.
    private func renewal(for origin: Origin, _ next: Next) -> TokenStore.Renewal? {
        guard let renew else { return nil }
        return TokenStore.Renewal(canObtain: canObtain) { tokens in
            let context = next.context
            let client = APIClient(
                onBehalfOf: context, to: origin, pipeline: next.refreshPipeline, transport: next.transport)
            let start = context.time.now
            context.record(late: TokenStore.Event.began)
            do {
                let tokens = try await renew(tokens, client)
                context.record(late: TokenStore.Event.renewed(after: start.duration(to: context.time.now)))
                return tokens
            } catch {
                let time = start.duration(to: context.time.now)
                let failure = NetworkError(error).withholding(context.secrets)
                context.record(late: TokenStore.Event.failed(failure, after: time))
                throw error
            }
        }
    }

    /// Loads the stored tokens, so that the first call of a process finds the cached responses of its user.
    func prepare(in context: ExchangeContext) async {
        guard context.authentication != .anonymous, store.principal == .unknown else { return }
        try? await store.load(until: context.deadline, on: context.time)
    }

    /// Returns the principal of the signed-in account. It stays the same after a refresh, and changes with the next
    /// sign-in. Returns `.unknown` until the store has loaded the stored tokens, and while it must still obtain tokens.
    /// Returns `.anonymous` when signed out, and for a request that receives no token.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.admits(request, in: context) else { return .anonymous }
        let principal = store.principal
        return principal == .anonymous && canObtain ? .unknown : principal
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The token", in: setup) { ".bearer(store, for: \"\($0)\")" }
    }
}

extension TokenStore {
    /// The parameter of a closure that refreshes tokens.
    public struct Refresh: Sendable {
        /// The tokens to refresh.
        public let tokens: Tokens
        /// A client for the origin that receives the tokens: the client of the call that needs new tokens, without its
        /// interceptors except `.logging()` of calls. The base URL with its path, the query items, the transport, the
        /// `APIClient.Configuration` and the observers are those of the original client.
        ///
        /// If the tokens are for an origin other than that of the client (`.bearer(store, for:)`), paths begin at the
        /// root of that origin, and the header fields and query items of the client are not sent.
        public let client: APIClient
    }
}

extension TokenInterceptor: CustomStringConvertible {
    /// `Bearer`, followed by the name and the origin if they were specified. The description never contains a token.
    var description: String { scope.label(scope.name.map { "Bearer \($0)" } ?? "Bearer") }
}
