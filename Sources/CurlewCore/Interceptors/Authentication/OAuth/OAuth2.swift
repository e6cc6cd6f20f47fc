// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An OAuth 2 client (RFC 6749): each step of a flow as a request or a text, which the app drives.
///
///     let oauth = OAuth2(clientID: "app", tokenEndpoint: "https://id.example.com/token")
///     .bearer(store, refresh: oauth.refresh)               // an account that somebody signs in to
///     .bearer(store, obtain: oauth.obtain)                 // a service of its own: client credentials
///
/// Signing in with a browser, with PKCE always (RFC 9700 §2.1.1):
///
///     let (pkce, state) = (PKCE(), OAuth2.makeState())
///     open(try oauth.authorizationURL(at: "https://id.example.com/authorize", redirect: "app://back", pkce, state: state))
///     let code = try oauth.code(from: urlThatCameBack, state: state)
///     try await store.signIn(try await client.send(oauth.exchange(code, redirect: "app://back", pkce)))
public struct OAuth2: Sendable {
    /// How the client says who it is at the token endpoint.
    public enum ClientAuthentication: Hashable, Sendable {
        /// A public client, such as an app, has no secret: only its identifier is sent.
        case none
        /// With a secret as user and password (RFC 6749 §2.3.1).
        case basic(secret: String)
        /// With a secret among the form's fields, for servers that know nothing else.
        case form(secret: String)
    }

    /// The identifier that the server gave to this client.
    public let clientID: String
    /// Where tokens are asked for. Calls to one of plain http fail with `.invalidRequest`, except to this machine.
    public let tokenEndpoint: String
    /// What is asked for; empty for the server's default.
    public let scopes: [String]
    private let authentication: ClientAuthentication

    /// A client of one authorization server.
    public init(
        clientID: String, tokenEndpoint: String, scopes: [String] = [], authentication: ClientAuthentication = .none
    ) {
        self.clientID = clientID
        self.tokenEndpoint = tokenEndpoint
        self.scopes = scopes
        self.authentication = authentication
    }

    /// Renews tokens by their refresh token, for `.bearer(store, refresh:)`.
    ///
    /// Throws `.notAuthenticated(.missingCredential)`, which signs out, if there is none. Of the server's errors only
    /// `invalid_grant` and GitHub's `bad_refresh_token` sign out; after `invalid_client`, for one, the tokens are kept.
    @Sendable
    public func refresh(_ refresh: TokenRefresh) async throws -> Tokens {
        guard let token = refresh.tokens.refreshToken else {
            throw NetworkError(
                .notAuthenticated(.missingCredential), detail: "There is no refresh token.", hint: "Sign in again.")
        }
        return try await refresh.client.send(renewal(of: token))
    }

    /// Gets tokens with the client's own credentials, for `.bearer(store, obtain:)`.
    @Sendable
    public func obtain(_ client: APIClient) async throws -> Tokens {
        try await client.send(clientCredentials)
    }

    /// New tokens for a refresh token (RFC 6749 §6).
    public func renewal(of refreshToken: String) -> Request<Tokens> {
        request(["grant_type": "refresh_token", "refresh_token": refreshToken])
    }

    /// Tokens for the client itself (RFC 6749 §4.4).
    public var clientCredentials: Request<Tokens> {
        var fields: QueryItems = ["grant_type": "client_credentials"]
        if !scopes.isEmpty { fields.append("scope", scopes.joined(separator: " ")) }
        return request(fields)
    }

    /// Tokens for an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.5). `redirect` as in the authorization request.
    public func exchange(_ code: String, redirect: String, _ pkce: PKCE) -> Request<Tokens> {
        request([
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirect, "code_verifier": pkce.verifier,
        ])
    }

    private func request(_ fields: QueryItems) -> Request<Tokens> {
        var fields = fields
        var headers: HTTPHeaders = [:]
        switch authentication {
        case .none: fields.append("client_id", clientID)
        case .form(let secret):
            fields.append("client_id", clientID)
            fields.append("client_secret", secret)
        case .basic(let secret):
            // Both are form-encoded before they are joined (RFC 6749 §2.3.1).
            let pair = [clientID, secret].map { PercentCoding.encode($0, for: .formValue) }.joined(separator: ":")
            headers[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        }
        // Always JSON (RFC 6749 §5.1), whatever the client's codecs are.
        var request = Request<Tokens>(
            .post, confidentialEndpoint, headers: headers, content: .form(fields), name: "OAuth2.tokens"
        ) { response, _ in try await response.decoded(as: Tokens.self, using: .json) }
        request.options.authentication = .anonymous
        return request
    }
}

extension OAuth2 {
    /// The token endpoint, or why nothing goes there: what is sent are secrets (RFC 6749 §3.2).
    private var confidentialEndpoint: AbsoluteURL {
        do throws(NetworkError) {
            let origin = try HTTPRequest(url: tokenEndpoint).origin
            guard !origin.isConfidential else { return AbsoluteURL(tokenEndpoint) }
            throw NetworkError(
                .invalidRequest, detail: "The token endpoint is not secure: \(origin).", hint: "Use https.")
        } catch {
            return AbsoluteURL(refused: error)
        }
    }
}

extension OAuth2: CustomStringConvertible, CustomReflectable {
    /// The identifier and the endpoint; never a secret.
    public var description: String { "OAuth2(\(clientID) at \(Redaction.standard.url(tokenEndpoint)))" }

    /// Shows what `description` does, and nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
