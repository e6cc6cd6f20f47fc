// SPDX-License-Identifier: MIT

public import CurlewCore

/// An event of the cache of a pipeline: `ExchangeEvent.feature`.
@nonexhaustive
public enum CacheEvent: FeatureEvent {
    /// The cache has decided on the source of a response. Its head has arrived.
    case decided(CacheStatus)
    /// The cache's store failed; the call continues without it. May also occur after the end of the call, when a commit
    /// that the call did not wait for has failed (`CacheConfiguration.commitTimeout`).
    case storeFailed(NetworkError)
    /// The number of entries that the cache's store has evicted to keep its limits since the previous event of this
    /// kind. At most one event per stored response. May occur as late as `storeFailed`.
    case evicted(Int)

    /// One line: the verdict, the label of the error, or the number.
    public var description: String {
        switch self {
        case .decided(let verdict): "\(verdict)"
        case .storeFailed(let error): "the store of the cache failed: \(error.label)"
        case .evicted(let count): "the store of the cache evicted \(count) entries"
        }
    }
}

extension CacheEvent: CapabilityEvent {
    package var mayFollowTheEnd: Bool {
        switch self {
        case .storeFailed, .evicted: true
        case .decided: false
        }
    }

    package func withholding(_ secrets: DeclaredSecrets) -> CacheEvent {
        if case .storeFailed(let error) = self { .storeFailed(error.withholding(secrets)) } else { self }
    }
}
