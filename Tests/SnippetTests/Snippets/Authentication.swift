// SPDX-License-Identifier: MIT

import Curlew

extension Request {
    static func login(_ name: String, _ password: String) -> Request<Tokens> {
        .post("/auth/login", body: .json(["username": name, "password": password]))
    }

    static func renewal(of refreshToken: String?) -> Request<Tokens> {
        .post("/auth/refresh", body: .json(["refreshToken": refreshToken]))
    }
}

enum AuthenticationPage {
    static func kinds(
        _ store: TokenStore, _ keychain: Keychain, _ oauth: OAuth2, _ password: String, _ key: String
    ) -> [any Interceptor] {
        let credentials: [any Interceptor] = [
            .bearer { try await keychain.token() },
            .bearer(store) { try await $0.client.send(.renewal(of: $0.tokens.refreshToken)) },
            .bearer(store, obtain: oauth.obtain),
            .basic(user: "ada", password: password),
            .digest(user: "ada", password: password),
            .apiKey(key, in: .header("X-API-Key")),
        ]

        return credentials
    }

    static func renewing(_ name: String, _ password: String) async throws -> APIClient {
        let store = TokenStore()
        let client = APIClient(
            baseURL: "https://api.example.com/v1",
            pipeline: .standard.adding(
                .bearer(store) { try await $0.client.send(.renewal(of: $0.tokens.refreshToken)) }))
        try await store.signIn(try await client.withoutCredentials().send(.login(name, password)))

        return client
    }

    static func signingOut(_ tokens: TokenStore, _ cache: any HTTPCache.Store) async throws {
        let principal = tokens.principal
        try await tokens.signOut()
        try await cache.remove(.principal(principal))
    }

    static func cookies() -> APIClient.Configuration {
        var configuration = APIClient.Configuration()
        configuration.fields.harmlessCookies = ["__cf_bm", "AWSALB"]

        return configuration
    }

    static func translating(_ store: TokenStore) -> BuiltInInterceptor {
        let account: BuiltInInterceptor = .bearer(store) { refresh in
            do throws(NetworkError) {
                return try await refresh.client.send(.renewal(of: refresh.tokens.refreshToken))
            } catch {
                guard error.statusCode == 401 else { throw error }
                throw NetworkError(.notAuthenticated(.refreshRefused), underlying: error)
            }
        }
        return account
    }

    static func kept() -> TokenStore {
        let store = TokenStore(.file("/var/lib/app/tokens.json"))  // mode 0600

        return store
    }

    static func signIn(
        _ oauth: OAuth2, _ client: APIClient, _ store: TokenStore, authorize: String,
        urlThatCameBack: (String) -> String
    ) async throws {
        let (pkce, state) = (OAuth2.PKCE(), OAuth2.makeState())
        let page = try oauth.authorizationURL(at: authorize, redirect: "app://back", pkce, state: state)

        let urlThatCameBack = urlThatCameBack(page)
        let code = try oauth.code(from: urlThatCameBack, redirect: "app://back", state: state)
        try await store.signIn(try await client.send(oauth.exchange(code, redirect: "app://back", pkce)))
    }

    static func signing(_ client: APIClient, key: Data) -> APIClient {
        let signed = client.adding(
            .signing { request, context in
                let date = HTTPDate(context.time.date).description
                let text = "\(request.method) \(request.target) \(date)"
                let signature = MessageDigest.hmacSHA256(Data(text.utf8), key: key)
                request.headers["X-Date"] = date
                request.headers["X-Signature"] = signature.base64EncodedString()
            })

        return signed
    }
}
