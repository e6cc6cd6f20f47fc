// SPDX-License-Identifier: MIT

import Curlew
import CurlewSQLite

// The cache, on the disk too, and what else remembers: cookies, and exchanges that are shared.

enum CachingPage {
    static func inMemory() -> APIClient {
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.caching()))  // in memory

        return client
    }

    static func kept() async throws -> APIClient {
        let store = HTTPCache.MemoryStore(byteLimit: 200 << 20)
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.caching(store: store)))
        await store.remove(.prefix("https://api.example.com/films/"))

        return client
    }

    static func whereFrom(_ client: APIClient) async throws -> String {
        let film = try await client.response(for: .film("metropolis"))
        // from the cache: it is fresh; 12 s old, fresh for another 48 s
        print(film.cacheStatus)
        let origin =
            switch film.served {
            case .network: "from the server, whole"
            case .cache(let age, let freshFor): "without asking: \(age) old, good for \(freshFor) more"
            case .revalidated: "asked, and still good (304)"
            case .stale(let reason): "not fresh, but allowed to be used: \(reason)"
            default: "a 504 made here: nothing may be used, nothing may be sent"
            }

        return origin
    }

    static func policies(_ client: APIClient) async throws {
        let film = try await client.send(.film("metropolis").options { $0.cachePolicy = .reload })

        _ = film
    }
}

enum DiskCachePage {
    static func store(cachesFolder: String) -> APIClient {
        let store = HTTPCache.SQLiteStore(path: cachesFolder + "/http.sqlite")
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.caching(store: store)))

        return client
    }
}

enum CookiesPage {
    static func inMemory() -> APIClient {
        let cookies = CookieStore()  // as long as the process
        let client = APIClient(baseURL: "https://example.com", pipeline: .standard.adding(.cookies(cookies)))

        return client
    }

    static func inAFile(_ path: String) -> CookieStore {
        let cookies = CookieStore(file: path)  // and longer

        return cookies
    }
}

enum CacheRulesPage {
    struct FilmLifetime: Interceptor {
        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            var response = try await next(request)
            if request.target.hasPrefix("/films") { response.headers[.cacheControl] = "max-age=600" }
            return response
        }
    }

    static func client() -> APIClient {
        var options = HTTPCache.Options()
        options.ignoredQueryItems = ["utm_*", "fbclid"]
        let pipeline = Pipeline.standard.adding(.caching(options: options))
            .adding(FilmLifetime(), changesPrincipal: false)
        let client = APIClient(baseURL: "https://api.example.com", pipeline: pipeline)

        return client
    }
}

enum CoalescingPage {
    static func client() -> APIClient {
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.coalescing()))

        return client
    }
}
