// SPDX-License-Identifier: MIT

/// What one call wants of the cache: `.get("/films").options { $0.cachePolicy = .reload }`.
public enum CachePolicy: Hashable, Sendable {
    /// What RFC 9111 says. The default.
    case useProtocol
    /// Past what is stored, to the server itself: the request says `no-cache`. The answer is kept.
    case reload
    /// What is stored, once the server has said that it is still good (RFC 9111 §4.3), however fresh it is; else what the
    /// server sends. The request says `no-cache` (§5.2.1.4), so that caches on the way ask as well. When the server cannot
    /// be reached or fails, the call fails: nothing stands in for it.
    case validate
    /// What is stored, however old, unless the server forbade that (`no-cache`, `must-revalidate`); else the network.
    /// Answers without any word about caching are kept too.
    case returnStaleElseLoad
    /// What is stored and may be used; else the answer is a 504 made here, and nothing is sent.
    case onlyIfCached
    /// The network; nothing of the answer is kept, and the request says `no-store`.
    case noStore
}

extension RequestOptions {
    /// What the call wants of the client's cache; no effect without `.caching()`.
    public var cachePolicy: CachePolicy {
        get { self[CachePolicyKey.self] }
        set { self[CachePolicyKey.self] = newValue }
    }

    /// Names under which the stored answer can be removed, besides those that the server gives: see `CacheSelection.tags`.
    public var cacheTags: Set<String> {
        get { self[CacheTagsKey.self] }
        set { self[CacheTagsKey.self] = newValue }
    }

    /// The call only reads, and its body says what: its answer is stored under URL, method and a hash of the body. For
    /// QUERY, and for POST where that is a way to ask. Default false: without it neither is kept.
    ///
    /// The body has to be in memory, and at most 1 MiB. A POST that says so invalidates nothing.
    public var cacheKeyIncludesBody: Bool {
        get { self[CacheBodyKey.self] }
        set { self[CacheBodyKey.self] = newValue }
    }
}

private enum CachePolicyKey: RequestOptionKey {
    static let defaultValue = CachePolicy.useProtocol
}

private enum CacheTagsKey: RequestOptionKey {
    static let defaultValue: Set<String> = []
}

private enum CacheBodyKey: RequestOptionKey {
    static let defaultValue = false
}
