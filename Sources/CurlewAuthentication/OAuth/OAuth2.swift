// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
public import CurlewHTTP

/// An OAuth 2 client (RFC 6749). It creates the requests and URLs of each flow, and the app performs the steps.
///
///     let oauth = OAuth2(clientID: "app", tokenEndpoint: "https://id.example.com/token")
///     .bearer(store, refresh: oauth.refresh)               // an account that a user signs in to
///     .bearer(store, obtain: oauth.obtain)                 // the client's own account: client credentials
///
/// To sign in with a browser, always with PKCE (RFC 9700 §2.1.1):
///
///     let (pkce, state) = (OAuth2.PKCE(), OAuth2.makeState())
///     open(try oauth.authorizationURL(
///         at: "https://id.example.com/authorize", redirect: "app://back", pkce, state: state))
///     let code = try oauth.code(from: urlThatCameBack, redirect: "app://back", state: state)
///     try await store.signIn(try await client.send(oauth.exchange(code, redirect: "app://back", pkce)))
///
/// None of these requests follows a redirect, even if the client's pipeline does, because a redirect could send secrets
/// elsewhere. A response with a `token_type` other than `Bearer` throws `.decoding` (RFC 6749 §7.1).
public struct OAuth2: Sendable {
    /// The authentication method of the client at the server's endpoints (RFC 6749 §2.3).
    public enum ClientAuthentication: Hashable, Sendable {
        /// No secret, for a public client such as an app: only the client identifier is sent.
        case none
        /// A secret that is sent as the password of Basic authentication (RFC 6749 §2.3.1).
        case basic(secret: String)
        /// A secret that is sent among the form fields, for servers that support nothing else.
        case form(secret: String)
    }

    let clientID: String
    let tokenEndpoint: String
    let scopes: [String]
    let issuer: String?
    private let authentication: ClientAuthentication

    /// Creates an OAuth 2 client for one authorization server, which assigned it `clientID`.
    ///
    /// - `tokenEndpoint`: the URL for tokens. Requests to plain http, except loopback, throw `.invalidRequest`.
    /// - `scopes`: the requested scopes. Default none: the server decides.
    /// - `issuer`: the issuer identifier that `code(from:redirect:state:)` requires in the response (RFC 9207). Default
    ///   nil: not checked. Specify it if the app signs in to several servers.
    public init(
        clientID: String, tokenEndpoint: String, scopes: [String] = [], authentication: ClientAuthentication = .none,
        issuer: String? = nil
    ) {
        self.clientID = clientID
        self.tokenEndpoint = tokenEndpoint
        self.scopes = scopes
        self.authentication = authentication
        self.issuer = issuer
    }

    /// Refreshes tokens with their refresh token (RFC 6749 §6). Pass this method to `.bearer(store, refresh:)`.
    ///
    /// Throws the errors of `send`, and `.notAuthenticated(.missingCredential)` if there is no refresh token. The store
    /// signs the account out after the latter, and after the server's error `invalid_grant` or GitHub's
    /// `bad_refresh_token`; after `invalid_client`, for example, the tokens are kept.
    @Sendable
    public func refresh(_ refresh: TokenStore.Refresh) async throws -> Tokens {
        guard let token = refresh.tokens.refreshToken else {
            throw NetworkError(
                .notAuthenticated(.missingCredential), detail: "There is no refresh token.", hint: "Sign in again.")
        }
        return try await refresh.client.send(renewal(of: token))
    }

    /// Obtains tokens with the client credentials grant (RFC 6749 §4.4). For `.bearer(store, obtain:)`. Throws the
    /// errors of `send`.
    @Sendable
    public func obtain(_ client: APIClient) async throws -> Tokens {
        try await client.send(clientCredentials)
    }

    /// Returns the request that exchanges a refresh token for new tokens (RFC 6749 §6).
    public func renewal(of refreshToken: String) -> Request<Tokens> {
        request(["grant_type": "refresh_token", "refresh_token": refreshToken])
    }

    /// The request that obtains tokens with the client credentials grant (RFC 6749 §4.4).
    package var clientCredentials: Request<Tokens> {
        var fields: QueryItems = ["grant_type": "client_credentials"]
        if !scopes.isEmpty { fields.append("scope", scopes.joined(separator: " ")) }
        return request(fields)
    }

    /// Returns the request that exchanges an authorization code for tokens (RFC 6749 §4.1.3, RFC 7636 §4.5). `redirect`
    /// and `pkce` must be those of the authorization request.
    public func exchange(_ code: String, redirect: String, _ pkce: OAuth2.PKCE) -> Request<Tokens> {
        request([
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirect, "code_verifier": pkce.verifier,
        ])
    }

    /// Returns a request to the token endpoint. It carries this client's identifier and its secret, if it has one, and
    /// no other credential. Redirects are not followed, because 307 and 308 would send the form to another origin.
    func request(_ fields: QueryItems) -> Request<Tokens> {
        // Always JSON (RFC 6749 §5.1), whatever the client's codecs are.
        let decode = { @Sendable (response: HTTPResponse, _: Codecs) async throws -> Tokens in
            try await response.decoded(as: BearerResponse.self, using: .json).tokens
        }
        var fields = fields
        var headers: HTTPHeaders = [:]
        switch authentication {
        case .none: fields.append("client_id", clientID)
        case .form(let secret):
            fields.append("client_id", clientID)
            fields.append("client_secret", secret)
        case .basic(let secret):
            // The identifier and the secret are form-encoded before they are joined (RFC 6749 §2.3.1).
            let pair = [clientID, secret].map { PercentCoding.encode($0, for: .formValue) }.joined(separator: ":")
            headers[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        }
        if let origin = try? HTTPRequest(url: tokenEndpoint).origin, !origin.isConfidential {
            // RFC 6749 §3.2.
            return Request(
                .post,
                refusing: NetworkError(
                    .invalidRequest, detail: "The endpoint is not secure: \(origin).", hint: "Use https."),
                name: "OAuth2.tokens", decode: decode)
        }
        var request = Request<Tokens>(
            .post, absolute: tokenEndpoint, body: .form(fields), headers: headers, name: "OAuth2.tokens",
            decode: decode)
        request.options.authentication = .anonymous
        request.options.isSingleHop = true
        return request
    }
}

/// The response of a token endpoint. The client must understand the type of the token (RFC 6749 §7.1): a token that is
/// bound to a key must not be sent as a bearer token. Servers that omit the type mean `Bearer`.
private struct BearerResponse: Decodable, Sendable {
    let tokens: Tokens

    private enum Field: String, CodingKey { case type = "token_type" }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let type = try fields.decodeIfPresent(String.self, forKey: .type) ?? "Bearer"
        guard type.lowercased() == "bearer" else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: fields,
                debugDescription: "The tokens have the type \(type.clipped(to: 64)), which cannot be sent as Bearer.")
        }
        tokens = try Tokens(from: decoder)
    }
}

extension OAuth2: MirroredByDescription {
    /// The client identifier and the token endpoint. The description never contains a secret.
    public var description: String { "OAuth2(\(clientID) at \(Redaction.standard.url(tokenEndpoint)))" }
}

extension OAuth2.ClientAuthentication: MirroredByDescription {
    /// The method. The description never contains the secret.
    public var description: String {
        switch self {
        case .none: "none"
        case .basic: "basic(secret: …)"
        case .form: "form(secret: …)"
        }
    }
}
