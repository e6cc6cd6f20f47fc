// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends `Authorization: Bearer …` (RFC 6750) with requests for the origin of the client's base URL, and for no
    /// other.
    ///
    ///     .bearer { await keychain.token() }                                // the origin of the client's base URL
    ///     .bearer(for: "https://cdn.example.com") { try await cdnToken() }  // another origin
    ///
    /// The rules:
    /// - A token belongs to an origin (scheme, host and port). A request to any other is sent without it. The only
    ///   exception: what belongs to `http://host` may be sent to `https://host`, both on their default ports.
    /// - After a redirect has left the call's origin, nothing is attached any more, not even back at that origin.
    /// - Over plain http the token would be readable in transit. Without an explicit origin, plain http is allowed for
    ///   loopback only and is a problem of the pipeline otherwise. An explicit `http` origin allows it.
    /// - An `Authorization` field of the call takes precedence, and the token closure is not called.
    /// - If there is no token (nil or empty), the request is sent without one. If the closure throws, the call fails
    ///   with `.notAuthenticated(.sourceFailed)`, unless the call was cancelled.
    /// - A token that is not valid in a header field fails the call before anything is sent.
    ///
    /// - `token`: called once for each attempt, so it should cache the token.
    /// - `principal`: returns whose token it is now, such as the identifier of the signed-in user; no two users may
    ///   have the same one. Without it, or when it returns nil, responses to calls with this token are neither cached
    ///   nor shared.
    public static func bearer(
        _ token: @escaping @Sendable () async throws -> String?, principal: (@Sendable () -> String?)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(BearerInterceptor(token: token, principal: principal))
    }

    /// Attaches a bearer token to requests for the origin of `url`, such as `https://api.example.com`; its path is
    /// ignored. A text that is not an absolute URL is a problem of the pipeline: every call throws `.configuration`.
    ///
    /// - `token`: called once for each attempt, so it should cache the token.
    /// - `principal`: returns whose token it is now. Default nil: responses to calls with it are neither cached nor
    ///   shared.
    public static func bearer(
        for url: String, _ token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(BearerInterceptor(for: url, token: token, principal: principal))
    }

    /// Attaches a bearer token to requests for `origin`.
    ///
    /// - `token`: called once for each attempt, so it should cache the token.
    /// - `principal`: returns whose token it is now. Default nil: responses to calls with it are neither cached nor
    ///   shared.
    public static func bearer(
        for origin: Origin, _ token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(BearerInterceptor(for: origin, token: token, principal: principal))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends the access token of a `TokenStore` with the requests to one origin, and refreshes it when it has expired.
    ///
    ///     .bearer(store) { try await $0.client.send(.refresh($0.tokens.refreshToken)) }
    ///
    /// The rules of `.bearer` determine which requests receive the token. In addition:
    /// - Tokens that have expired are refreshed before the call is sent; those about to expire, while it is sent.
    /// - A call with a 401 response is sent once more with newer tokens of the same sign-in: those that have arrived
    ///   since, or the result of a refresh. A second 401 is returned to the caller, as is a 401 after a sign-out or
    ///   another sign-in. A request whose body cannot be produced again is not sent again; its 401 is returned, and the
    ///   refresh begins for later calls.
    /// - The error of a refresh is thrown, see `TokenStore`. A call never waits longer than its own deadline.
    /// - The server's clock is estimated from the `Date` of its responses, so that tokens expire by the server's time.
    ///
    /// - `url`: a URL of the origin that receives the tokens; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select these tokens with `.named`; nil for all calls that select none.
    /// - `refresh`: returns new tokens. It runs once for all calls that wait, on a separate task. Requests that it
    ///   sends through a client with this interceptor are sent without a token. To report that the tokens can no longer
    ///   be refreshed, where the server does not send `invalid_grant`, throw
    ///   `NetworkError(.notAuthenticated(.refreshRefused))`. Nil if tokens are not refreshed: then a 401 is returned to
    ///   the caller.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        refresh: (@Sendable (TokenStore.Refresh) async throws -> Tokens)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(TokenInterceptor(store, for: url, name: name, refresh: refresh))
    }

    /// Sends access tokens that the client obtains without a sign-in: `.bearer(store, obtain: oauth.obtain)`. The first
    /// call waits for them, and they are obtained again when they have expired.
    ///
    /// - `url`: a URL of the origin that receives the tokens; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select these tokens with `.named`; nil for all calls that select none.
    /// - `obtain`: returns tokens, with a client for their origin as in `TokenStore.Refresh`. It runs once for all
    ///   calls.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        obtain: @escaping @Sendable (APIClient) async throws -> Tokens
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(TokenInterceptor(store, for: url, name: name, obtain: obtain))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends `Authorization: Basic …` (RFC 7617), in UTF-8, with the requests to one origin.
    ///
    /// The rules of `.bearer` determine which requests receive it. A user name with a colon, which the scheme
    /// cannot represent, is a problem of the pipeline.
    ///
    /// - `url`: a URL of the origin that receives the credentials; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select the credentials with `.named`; nil for all calls that select none.
    public static func basic(
        user: String, password: String, for url: String? = nil, name: String? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(BasicInterceptor(user: user, password: password, for: url, name: name))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends an API key with the requests to one origin, in a header field or a query item.
    ///
    /// The rules of `.bearer` determine which requests receive it. If the call already has a field or item of that
    /// name, it is kept. Prefer a field: a key in a URL appears in the server's logs. Errors show the URL without it.
    ///
    /// - `url`: a URL of the origin that receives the key; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select the key with `.named`; nil for all calls that select none.
    public static func apiKey(
        _ key: String, in place: BuiltInInterceptor.APIKeyLocation, for url: String? = nil, name: String? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(APIKeyInterceptor(key, in: place, for: url, name: name))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Signs the requests to one origin. It runs last before the transport, and sees each request as it is sent.
    ///
    ///     .signing { request, context in
    ///         let signature = MessageDigest.hmacSHA256(Data(request.target.utf8), key: key)
    ///         request.headers["X-Signature"] = signature.base64EncodedString()
    ///     }
    ///
    /// It runs once for each attempt, so that a timestamp in the signature is current. The rules of `.bearer` determine
    /// which requests are signed. Fields that are added afterwards are not signed. The transport writes `Host` and the
    /// framing fields, from `request.origin` and the body.
    ///
    /// - `url`: a URL of the origin whose requests are signed; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select the signature with `.named`; nil for all calls that select none.
    /// - `sign`: changes the request. An error that it throws fails the call before anything is sent.
    /// - `principal`: returns the principal that it signs for now, as for `.bearer`.
    public static func signing(
        for url: String? = nil, name: String? = nil,
        _ sign: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void,
        principal: (@Sendable () -> String?)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(SigningInterceptor(for: url, name: name, sign, principal: principal))
    }
}
