// SPDX-License-Identifier: MIT

public import CurlewCore

extension HTTPCache {
    /// The use of the client's cache by a call: `.get("/films").options { $0.cachePolicy = .reload }`.
    public enum Policy: Hashable, Sendable {
        /// Uses and stores responses as RFC 9111 specifies. The default.
        case useProtocol
        /// Ignores stored responses, sends the request with `Cache-Control: no-cache`, and stores the response if it
        /// may be stored.
        case reload
        /// Returns a stored response only after the server has validated it (RFC 9111 §4.3), even if it is fresh;
        /// otherwise returns the server's new response. The request contains `no-cache` (§5.2.1.4), so that
        /// intermediate caches also revalidate. If the server fails or cannot be reached, the caller receives the
        /// failed response or the error, never a stale response.
        case validate
        /// Returns a stored response however old it is, unless the server forbids that (`no-cache`, `must-revalidate`);
        /// otherwise uses the network. Responses that have neither a lifetime nor a validator are also stored.
        case returnStaleElseLoad
        /// Returns a stored response if it may be used; otherwise returns a locally generated 504. Never sends a
        /// request whose method is safe.
        case onlyIfCached
        /// Sends the request with `Cache-Control: no-store`, uses no stored response, and stores nothing.
        case noStore
    }
}

extension RequestOptions {
    /// The cache policy of the call. Default `.useProtocol`. Has no effect without `.caching()`.
    public var cachePolicy: HTTPCache.Policy {
        get { self[CachePolicyKey.self] }
        set { self[CachePolicyKey.self] = newValue }
    }

    /// Tags of the stored response, in addition to the tags that the server sends. `HTTPCache.Removal.tags` removes the
    /// responses that have one of them. Default none.
    public var cacheTags: Set<String> {
        get { self[CacheTagsKey.self] }
        set { self[CacheTagsKey.self] = newValue }
    }

    /// Whether the response is stored under the URL, the method and a hash of the request body. Set it for requests
    /// that only read data and whose body selects the response: QUERY, and POST used as a query. Default false:
    /// responses to QUERY and POST are not stored.
    ///
    /// The body must be in memory and at most 1 MiB long. A POST with this option invalidates no stored responses.
    public var cacheKeyIncludesBody: Bool {
        get { self[CacheBodyKey.self] }
        set { self[CacheBodyKey.self] = newValue }
    }
}

private enum CachePolicyKey: RequestOptions.Key {
    static let defaultValue = HTTPCache.Policy.useProtocol
}

private enum CacheTagsKey: RequestOptions.Key {
    static let defaultValue: Set<String> = []
}

private enum CacheBodyKey: RequestOptions.Key {
    static let defaultValue = false
}
