// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends a bearer token (`Authorization: Bearer …`, RFC 6750) with the requests to the origin of the client's base
    /// URL, and to no other origin.
    ///
    ///     .bearer { await keychain.token() }                                // the origin of the client's base URL
    ///     .bearer(for: "https://cdn.example.com") { try await cdnToken() }  // another origin
    ///
    /// The rules:
    /// - A token belongs to one origin (scheme, host and port). No other origin receives the token. The only exception:
    ///   a token for `http://host` may be sent to `https://host` if both ports are the default ports.
    /// - After a redirect has left the call's origin, no token is attached, even if a later redirect returns to that
    ///   origin.
    /// - A token can be read in transit over plain http. Without an explicit origin, a base URL with plain http is
    ///   therefore allowed only for loopback; otherwise every call throws `.configuration`. An explicit `http` origin
    ///   allows plain http.
    /// - A call that is `.anonymous`, selects a credential with `.named`, or already has an `Authorization` field or
    ///   another credential is sent without the token, and the token closure is not called.
    /// - If the token is nil or empty, the request is sent without one. If the token closure throws, or the token has
    ///   only spaces or more than 64 KiB, the call throws `.notAuthenticated(.sourceFailed)` before anything is sent.
    ///   Characters that a header field must not contain throw `.invalidRequest`; a cancellation, `.cancelled`.
    ///
    /// - `url`: a URL of the origin that receives the token; its path is ignored. Default nil: the origin of the
    ///   client's base URL. If that is missing, or `url` is not an absolute URL, every call throws `.configuration`.
    /// - `token`: returns the current token. Called once for each attempt, so it should cache the token.
    /// - `principal`: returns an identifier of the current owner of the token, such as the user ID. It must be
    ///   different for each user. If `principal` is nil or returns nil, responses to calls with this token are neither
    ///   cached nor shared.
    public static func bearer(
        for url: String? = nil, _ token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(BearerInterceptor(CredentialScope(url), token: token, principal: principal))
    }

    /// Sends the access token of a `TokenStore` with the requests to one origin, and refreshes it when it has expired.
    ///
    ///     .bearer(store) { try await $0.client.send(.refresh($0.tokens.refreshToken)) }
    ///
    /// The rules of `.bearer` determine which requests receive the token. In addition:
    /// - When signed out, requests are sent without a token.
    /// - Expired tokens are refreshed before the call is sent; tokens about to expire, while the call is sent.
    /// - After a 401 response, the call is sent once more with newer tokens of the same sign-in: tokens that have
    ///   arrived since, or the result of a refresh. A second 401 is returned to the caller, and so is a 401 after a
    ///   sign-out or another sign-in. A request whose body cannot be produced again is not sent again: its 401 is
    ///   returned, and the refresh begins for later calls.
    /// - If a refresh fails, the calls that wait for it throw its error, see `TokenStore`. A call never waits longer
    ///   than its own deadline.
    /// - The server's clock is estimated from the `Date` field of its responses, so that tokens expire by the server's
    ///   time.
    ///
    /// - `url`: a URL of the origin that receives the tokens; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select these tokens with `.named`; nil for all calls that select none.
    /// - `refresh`: returns new tokens. It runs once for all calls that wait, on a separate task. Requests that it
    ///   sends through a client with this interceptor are sent without a token. If the server does not send
    ///   `invalid_grant` when the tokens can no longer be refreshed, throw
    ///   `NetworkError(.notAuthenticated(.refreshRefused))`. If `refresh` is nil, tokens are not refreshed, and a 401
    ///   is returned to the caller.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        refresh: (@Sendable (TokenStore.Refresh) async throws -> Tokens)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(TokenInterceptor(store, for: url, name: name, refresh: refresh))
    }

    /// Sends access tokens that the client obtains without a sign-in: `.bearer(store, obtain: oauth.obtain)`. The first
    /// call waits for the tokens. Otherwise the rules of `.bearer(_:for:name:refresh:)` apply: `obtain` also refreshes.
    ///
    /// - `url`: a URL of the origin that receives the tokens; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select these tokens with `.named`; nil for all calls that select none.
    /// - `obtain`: returns new tokens; runs once for all calls that wait. Its parameter is a client for the origin, as
    ///   in `TokenStore.Refresh`.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        obtain: @escaping @Sendable (APIClient) async throws -> Tokens
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(TokenInterceptor(store, for: url, name: name, obtain: obtain))
    }

    /// Sends a user name and password in UTF-8 (`Authorization: Basic …`, RFC 7617) with the requests to one origin.
    ///
    /// The rules of `.bearer` determine which requests receive the credentials. If the user name contains a colon, or
    /// the user name or password contains a control character, every call throws `.configuration`.
    ///
    /// - `url`: a URL of the origin that receives the credentials; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select the credentials with `.named`; nil for all calls that select none.
    public static func basic(
        user: String, password: String, for url: String? = nil, name: String? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(BasicInterceptor(user: user, password: password, for: url, name: name))
    }

    /// Sends an API key with the requests to one origin, in a header field or a query item.
    ///
    /// The rules of `.bearer` determine which requests receive the key, except that an `Authorization` field of the
    /// call does not matter. A field or query item of the request with the same name takes precedence over the key.
    /// Prefer a field: a key in a URL appears in the server's logs. Errors contain the URL without the key.
    ///
    /// - `url`: a URL of the origin that receives the key; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select the key with `.named`; nil for all calls that select none.
    public static func apiKey(
        _ key: String, in location: BuiltInInterceptor.APIKeyLocation, for url: String? = nil, name: String? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(APIKeyInterceptor(key, in: location, for: url, name: name))
    }

    /// Signs the requests to one origin. The interceptor runs after credentials and content codings have been applied,
    /// so it signs each request in its final form.
    ///
    ///     .signing { request, context in
    ///         let signature = MessageDigest.hmacSHA256(Data(request.target.utf8), key: key)
    ///         request.headers["X-Signature"] = signature.base64EncodedString()
    ///     }
    ///
    /// `sign` runs once for each attempt, so that a timestamp in the signature is current. The rules of `.bearer`
    /// determine which requests are signed, except that a request with another credential is also signed. Header fields
    /// that are added later are not signed. The transport writes `Host` and the framing fields, from `request.origin`
    /// and the body.
    ///
    /// - `url`: a URL of the origin whose requests are signed; nil for the origin of the client's base URL.
    /// - `name`: the name by which calls select the signature with `.named`; nil to sign all calls except `.anonymous`
    ///   ones.
    /// - `sign`: adds the signature to the request. If `sign` changes the origin, the call throws `.configuration`. An
    ///   error of `sign` fails the call before anything is sent.
    /// - `principal`: returns an identifier of the user for whom requests are being signed. The rules of `principal`
    ///   for `.bearer` apply. Default nil.
    public static func signing(
        for url: String? = nil, name: String? = nil,
        _ sign: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void,
        principal: (@Sendable () -> String?)? = nil
    ) -> BuiltInInterceptor {
        let scope = CredentialScope(url, name: name)
        let traits = InterceptorTraits(.signing, runsInPreview: true) { request, context in
            guard scope.covers(request, in: context, isAddition: true) else { return .anonymous }
            return .named(principal?(), as: "signing \(name ?? "")")
        } problem: { setup in
            scope.problem(of: "The signature", in: setup) { ".signing(for: \"\($0)\") { … }" }
        }
        return BuiltInInterceptor(scope.label("Signing"), traits) { request, next in
            guard scope.covers(request, in: next.context, isAddition: true) else { return try await next(request) }
            var signed = request
            try await sign(&signed, next.context)
            guard signed.origin == request.origin else {
                throw NetworkError(
                    .configuration, detail: "The closure of .signing changed the origin of the request.",
                    hint: "Change it in an interceptor closer to the caller.",
                    request: NetworkError.RequestLine(request))
            }
            return try await next(signed, context: next.context.authenticated)
        }
    }
}

extension Principal {
    /// Returns the lasting principal that the app names; `.unknown` if the name is nil or empty. The name is hashed,
    /// because it may be personal data such as an email address.
    static func named(_ name: String?, as kind: String) -> Principal {
        guard let name, !name.isEmpty else { return .unknown }
        return .known("name-" + MessageDigest.sha256(joined([kind, name])).hexText, isLasting: true)
    }
}

extension ExchangeContext {
    /// A copy of this context in which `isAuthenticated` is true.
    var authenticated: ExchangeContext {
        var copy = self
        copy.isAuthenticated = true
        return copy
    }
}
