// SPDX-License-Identifier: MIT

public import CurlewCore

extension HTTPCache {
    /// An event of a pipeline's cache. Observers receive it as `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// The cache has determined where a response comes from. Recorded when the head of the response has arrived.
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
