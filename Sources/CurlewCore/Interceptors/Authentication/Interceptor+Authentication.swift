// SPDX-License-Identifier: MIT

extension Interceptor where Self == TokenInterceptor {
    /// Sends access tokens and refreshes them. See `TokenInterceptor` and `TokenStore`.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        refresh: (@Sendable (TokenRefresh) async throws -> Tokens)? = nil
    ) -> TokenInterceptor {
        TokenInterceptor(store, for: url, name: name, refresh: refresh)
    }

    /// Sends access tokens that the client obtains without a sign-in: `.bearer(store, obtain: oauth.obtain)`.
    public static func bearer(
        _ store: TokenStore, for url: String? = nil, name: String? = nil,
        obtain: @escaping @Sendable (APIClient) async throws -> Tokens
    ) -> TokenInterceptor {
        TokenInterceptor(store, for: url, name: name, obtain: obtain)
    }
}

extension Interceptor where Self == BasicInterceptor {
    /// Sends a user name and a password. See `BasicInterceptor`.
    public static func basic(
        user: String, password: String, for url: String? = nil, name: String? = nil
    ) -> BasicInterceptor {
        BasicInterceptor(user: user, password: password, for: url, name: name)
    }
}

extension Interceptor where Self == APIKeyInterceptor {
    /// Sends an API key in a header field or a query item. See `APIKeyInterceptor`.
    public static func apiKey(
        _ key: String, in place: APIKeyInterceptor.Place, for url: String? = nil, name: String? = nil
    ) -> APIKeyInterceptor {
        APIKeyInterceptor(key, in: place, for: url, name: name)
    }
}

extension Interceptor where Self == SigningInterceptor {
    /// Signs each request as it is sent. See `SigningInterceptor`.
    public static func signing(
        for url: String? = nil, name: String? = nil,
        _ sign: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void,
        principal: (@Sendable () -> String?)? = nil
    ) -> SigningInterceptor {
        SigningInterceptor(for: url, name: name, sign, principal: principal)
    }
}
