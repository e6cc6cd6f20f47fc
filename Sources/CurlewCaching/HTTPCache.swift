// SPDX-License-Identifier: MIT

public import CurlewCore

/// The types of the HTTP cache that `.caching()` adds to a pipeline (RFC 9111).
///
/// - `HTTPCache.Options`: which responses are stored, and how they are used; `HTTPCache.Policy` is the choice of one
///   call.
/// - `HTTPCache.Status`: where a response came from, and why.
/// - `HTTPCache.Store`: where entries are kept; `HTTPCache.MemoryStore` keeps them in memory.
public enum HTTPCache {}

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

    /// Tags of a response that this call stores, beside those that the server sends. `HTTPCache.Removal.tags` removes
    /// the responses that have at least one of the tags that it names. Default none.
    public var cacheTags: Set<String> {
        get { self[CacheTagsKey.self] }
        set { self[CacheTagsKey.self] = newValue }
    }

    /// Whether the response is stored under the URL, the method and a hash of the request body. Set it for requests
    /// that only read data and whose body selects the response: QUERY, and POST used as a query. Default false:
    /// responses to QUERY, to POST and to GET with a body are not stored.
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

extension HTTPCache {
    /// An event of a pipeline's cache. Observers receive it as `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// The cache has determined where a response comes from. Recorded once per hop, when the cache returns it.
        case decided(HTTPCache.Status)
        /// The cache's store failed, and the call continues without it. May also occur after the end of the call, if
        /// the call did not wait for a commit that then failed (`HTTPCache.Options.commitTimeout`).
        case storeFailed(NetworkError)
        /// The cache's store has evicted this number of entries since the previous `evicted` event. Recorded at most
        /// once for each stored response. Like `storeFailed`, it may occur after the end of the call.
        case evicted(Int)

        /// The name of the kind of event: `cache.network`, `cache.fresh`, `cache.revalidated`, `cache.stale`,
        /// `cache.refused`, `cache.fallback`, `cache.store_failed` or `cache.evicted`.
        public var name: String {
            switch self {
            case .decided(let verdict):
                switch verdict.served {
                case .network: "cache.network"
                case .cache: "cache.fresh"
                case .revalidated: "cache.revalidated"
                case .stale: "cache.stale"
                case .refused: "cache.refused"
                case .fallback: "cache.fallback"
                }
            case .storeFailed: "cache.store_failed"
            case .evicted: "cache.evicted"
            }
        }

        /// A description on one line, with the cache status, the label of the error, or the number of evicted entries.
        public var description: String {
            switch self {
            case .decided(let verdict): "\(verdict)"
            case .storeFailed(let error): "the store of the cache failed: \(error.label)"
            case .evicted(let count): "the store of the cache evicted \(count) entries"
            }
        }
    }
}
