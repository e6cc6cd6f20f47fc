// SPDX-License-Identifier: MIT

public import CurlewCore

extension HTTPCache {
    /// The source of a response, and the reason for it: `response.served`, `response.cacheStatus.reason`.
    ///
    ///     print(response.cacheStatus)
    ///     // from the cache: it is fresh; 12 s old, fresh for another 48 s
    ///     // from the network: nothing is stored for it; the response is stored after its body was read
    public struct Status: Hashable, Sendable {
        /// The source of a response.
        @nonexhaustive
        public enum Served: Hashable, Sendable {
            /// From the server: the cache supplied no part of it. Also for a response that passed through no cache.
            case network
            /// From the cache, without a request to the server. `age` is the age of the response, `freshFor` the time
            /// for which it stays fresh.
            case cache(age: Duration, freshFor: Duration)
            /// From the cache, after the server has validated the stored response.
            case revalidated
            /// A stale response from the cache, with the reason in words.
            case stale(because: String)
            /// A 504 that the cache generated, because it must use no stored response or has none, and could not or
            /// must not send a request.
            case refused
            /// From the app's `.fallback`, because the call failed.
            case fallback
        }

        /// The source of the response.
        public let served: Served
        let cause: CacheReason
        let keeping: CacheReason?

        init(_ served: Served, _ cause: CacheReason, keeping: CacheReason? = nil) {
            self.served = served
            self.cause = cause
            self.keeping = keeping
        }

        /// The reason in words: what was found in the cache, and whether the response is stored.
        public var reason: String {
            [cause.text, keeping?.text].compactMap { $0 }.joined(separator: "; ")
        }

        /// Whether the cache stores the response: at once if its body is in memory, otherwise when its body has been
        /// read to the end.
        public var isKept: Bool { keeping == .kept }

        /// The cache status of a response that passed through no cache.
        static let none = HTTPCache.Status(.network, .noCache)
    }
}

extension HTTPCache.Status: CustomStringConvertible {
    /// A description on one line: the source and the reason.
    public var description: String {
        switch served {
        case .network: "from the network: \(reason)"
        case .cache(let age, let left): "from the cache: \(reason); \(age.brief) old, fresh for another \(left.brief)"
        case .revalidated: "from the cache, revalidated: \(reason)"
        case .stale(let because): "from the cache, stale: \(because)"
        case .refused: "refused: \(reason)"
        case .fallback: "from the fallback: \(reason)"
        }
    }
}

extension HTTPResponse {
    /// The source of the response, and the reason for it.
    public var cacheStatus: HTTPCache.Status { HTTPCache.Status(facts) }

    /// The source of the response. Without `.caching()`, `.network`, or `.fallback` for a response of `.fallback`.
    public var served: HTTPCache.Status.Served { cacheStatus.served }
}

extension Response {
    /// The source of the response, and the reason for it.
    public var cacheStatus: HTTPCache.Status { HTTPCache.Status(facts) }

    /// The source of the response. Without `.caching()`, `.network`, or `.fallback` for a response of `.fallback`.
    public var served: HTTPCache.Status.Served { cacheStatus.served }
}

extension HTTPCache.Status: SourceFact {
    /// Creates the cache status of a response with these facts.
    fileprivate init(_ facts: Facts) {
        if let standIn = facts.standIn {
            self.init(.fallback, .callFailed(standIn))
        } else {
            self = facts[CacheVerdictKey.self]
        }
    }

    package var source: String? { served == .network ? nil : description }
}

/// The key of the cache status among the facts of a response.
enum CacheVerdictKey: FactKey {
    static let defaultValue = HTTPCache.Status.none
}

/// The reasons in a cache status, also why a request has no key, or no stored response may be used for it. The text of
/// a reason is created only when it is read.
enum CacheReason: Error, Hashable {
    case noCache, nothingStored, fieldsChange([String])
    case nothingMatches, onlyPartsStored, entryIsGone, fresh, heuristicallyFresh
    case stillGood, validatedBeside
    case replaced
    case method(String), bodyIsNoKey, bodyIsUnknown, principalUnknown([String]), principalOfProcess, principalChanged
    case storeFailed, callReloads, callStoresNothing, callHasPreconditions, callRequiresValidation, credentialMissing
    case olderThanAccepted, lessFreshThanRequired, responseRequiresValidation, stale(seconds: Int), clockWentBack
    case onlyIfCached, unreachable(String)
    case callFailed(String)
    case kept, freshens, requestForbids, responseForbids, notUnderstood(Int), notMarked
    case variesOnEverything, dependsOnMore(Int), notWorthKeeping, partIsUnclear, tooLong, noBytes, invalidated

    var text: String {
        switch self {
        case .noCache: "there is no cache in the pipeline"
        case .nothingStored: "nothing is stored for it"
        case .fieldsChange(let names):
            "nothing is stored for it, because \(names.inWords) may identify a user and changed with each call"
        case .nothingMatches: "the stored response is for other request fields (Vary)"
        case .onlyPartsStored: "only a part is stored, which does not cover the request"
        case .entryIsGone: "the entry was removed before its body was opened"
        case .fresh: "it is fresh"
        case .heuristicallyFresh: "it is fresh by a heuristic (the server specified no lifetime)"
        case .validatedBeside: "the server confirmed it (304) for a concurrent call"
        case .stillGood: "the server confirmed it (304)"
        case .replaced: "the server sent a new response"
        case .method(let method): "\(method) is not served from the cache"
        case .bodyIsNoKey: "the request has a body, and the call does not include it in the cache key"
        case .bodyIsUnknown: "the body of the request is not in memory, or too long to be a key"
        case .principalUnknown(let names):
            "not stored, because its principal is unknown" + (names.isEmpty ? "" : ": \(names.inWords) cannot name it")
        case .principalOfProcess:
            "not stored, because only this process knows its credential, and the store outlives the process"
        case .principalChanged: "not stored, because the principal changed during the exchange"
        case .storeFailed: "the store failed or is full"
        case .callReloads: "the call requests a reload"
        case .callStoresNothing: "the call forbids storing"
        case .callHasPreconditions: "the call has preconditions that only the server can check"
        case .callRequiresValidation: "the call requires validation"
        case .credentialMissing: "the call needs a credential, and there is none"
        case .olderThanAccepted: "it is older than the call accepts"
        case .lessFreshThanRequired: "it does not stay fresh for as long as the call requires"
        case .responseRequiresValidation: "the server requires validation for each use (no-cache)"
        case .stale(let seconds): "it is stale by \(seconds) s"
        case .clockWentBack: "the clock was set back after it was stored"
        case .onlyIfCached: "the call accepts only a stored response"
        case .unreachable(let error): "it must be validated, and the server cannot be reached: \(error)"
        case .callFailed(let error): "the call failed: \(error)"
        case .kept: "the response is stored after its body was read"
        case .freshens: "the stored response is updated"
        case .requestForbids: "not stored, because the request has no-store"
        case .responseForbids: "not stored, because the response has no-store"
        case .notUnderstood(let status):
            "not stored, because the cache does not implement the rules of \(status) (must-understand)"
        case .notMarked: "not stored, because neither status nor fields allow it"
        case .variesOnEverything: "not stored, because it varies on everything (Vary: *)"
        case .dependsOnMore(let status): "not stored, because \(status) depends on more than the URL"
        case .notWorthKeeping: "not stored, because it is stale immediately and has no validator"
        case .partIsUnclear: "not stored, because the part has no valid byte range"
        case .tooLong: "not stored, because it is larger than the limit of the cache"
        case .noBytes: "not stored, because it has no bytes"
        case .invalidated: "not stored, because it was invalidated during the exchange"
        }
    }
}
