// SPDX-License-Identifier: MIT

extension Interceptor where Self == TokenInterceptor {
    /// Access tokens that renew themselves. See `TokenInterceptor` and `TokenStore`.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        refresh: (@Sendable (TokenRefresh) async throws -> Tokens)? = nil
    ) -> TokenInterceptor {
        TokenInterceptor(store, for: url, name: name, refresh: refresh)
    }

    /// Access tokens that the client gets by itself: `.bearer(store, obtain: oauth.obtain)`.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        obtain: @escaping @Sendable (APIClient) async throws -> Tokens
    ) -> TokenInterceptor {
        TokenInterceptor(store, for: url, name: name, obtain: obtain)
    }
}

extension Interceptor where Self == BasicInterceptor {
    /// A user and a password. See `BasicInterceptor`.
    public static func basic(
        user: String, password: String, for url: String? = nil, name: String? = nil
    ) -> BasicInterceptor {
        BasicInterceptor(user: user, password: password, for: url, name: name)
    }
}

extension Interceptor where Self == APIKeyInterceptor {
    /// An API key in a header field or a query item. See `APIKeyInterceptor`.
    public static func apiKey(
        _ key: String, in place: APIKeyInterceptor.Place, for url: String? = nil, name: String? = nil
    ) -> APIKeyInterceptor {
        APIKeyInterceptor(key, in: place, for: url, name: name)
    }
}

extension Interceptor where Self == SigningInterceptor {
    /// A signature over the request as it goes to the wire. See `SigningInterceptor`.
    public static func signing(
        for url: String? = nil, name: String? = nil,
        _ sign: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void,
        principal: (@Sendable () -> String?)? = nil
    ) -> SigningInterceptor {
        SigningInterceptor(for: url, name: name, sign, principal: principal)
    }
}
