// SPDX-License-Identifier: MIT

public import CurlewCore

/// How a call uses the client's cache: `.get("/films").options { $0.cachePolicy = .reload }`.
public enum CachePolicy: Hashable, Sendable {
    /// Follows RFC 9111. The default.
    case useProtocol
    /// Ignores stored responses and sends the request with `Cache-Control: no-cache`. The response is stored.
    case reload
    /// Returns a stored response only after the server has validated it (RFC 9111 §4.3), even if it is fresh; otherwise
    /// returns the server's new response. The request contains `no-cache` (§5.2.1.4), so that intermediate caches
    /// revalidate as well. When the server cannot be reached or fails, the call fails: a stale response is never
    /// returned in its place.
    case validate
    /// Returns a stored response however old it is, unless the server forbade that (`no-cache`, `must-revalidate`);
    /// otherwise uses the network. Responses without caching directives are stored too.
    case returnStaleElseLoad
    /// Returns a stored response if it may be used; otherwise returns a locally generated 504 and sends no request.
    case onlyIfCached
    /// Uses the network and stores nothing. The request contains `Cache-Control: no-store`.
    case noStore
}

extension RequestOptions {
    /// How the call uses the client's cache. It has no effect without `.caching()`.
    public var cachePolicy: CachePolicy {
        get { self[CachePolicyKey.self] }
        set { self[CachePolicyKey.self] = newValue }
    }

    /// Tags by which the stored response can be removed, in addition to the tags that the server sends: see
    /// `CacheRemoval.tags`.
    public var cacheTags: Set<String> {
        get { self[CacheTagsKey.self] }
        set { self[CacheTagsKey.self] = newValue }
    }

    /// Whether the response is stored under the URL, the method and a hash of the request body, for requests that only
    /// read data and whose body selects it: QUERY, and POST used as a query. Default false: responses to QUERY and POST
    /// are then not stored.
    ///
    /// The body has to be in memory and at most 1 MiB long. A POST with this option invalidates no stored responses.
    public var cacheKeyIncludesBody: Bool {
        get { self[CacheBodyKey.self] }
        set { self[CacheBodyKey.self] = newValue }
    }
}

private enum CachePolicyKey: RequestOptions.Key {
    static let defaultValue = CachePolicy.useProtocol
}

private enum CacheTagsKey: RequestOptions.Key {
    static let defaultValue: Set<String> = []
}

private enum CacheBodyKey: RequestOptions.Key {
    static let defaultValue = false
}
