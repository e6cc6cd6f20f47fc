// SPDX-License-Identifier: MIT

/// The source of a response and the reason for it: `response.served`, `response.cacheVerdict.reason`.
///
///     print(response.cacheVerdict)
///     // from the cache: it is fresh; 12 s old, good for 48 s more
///     // from the network: nothing is stored for it; the answer is kept once it is read to its end
public struct CacheVerdict: Hashable, Sendable {
    /// The source of a response.
    @nonexhaustive
    public enum Served: Hashable, Sendable {
        /// The whole response is from the server.
        case network
        /// From the cache, without a request to the server. `age` is the age of the response, `freshFor` its remaining
        /// freshness.
        case cache(age: Duration, freshFor: Duration)
        /// From the cache, after successful revalidation with the server.
        case revalidated
        /// From the cache although stale, for this reason.
        case stale(because: String)
        /// A 504 that the cache generated, because it must not use what is stored and could not ask the server.
        case refused
        /// From the app's `.fallback`, because the call had failed.
        case fallback
    }

    /// The source of the response.
    public let served: Served
    let cause: CacheCause
    let keeping: CacheCause?

    init(_ served: Served, _ cause: CacheCause, keeping: CacheCause? = nil) {
        self.served = served
        self.cause = cause
        self.keeping = keeping
    }

    /// The reason in words: what was found in the cache, and whether the response is stored.
    public var reason: String {
        [cause.text, keeping?.text].compactMap { $0 }.joined(separator: "; ")
    }

    /// True if the response is stored once its body has been read to the end.
    public var isKept: Bool { keeping == .kept }

    /// The verdict of responses without a cache.
    static let none = CacheVerdict(.network, .noCache)
}

extension CacheVerdict: CustomStringConvertible {
    /// One line: the source and the reason.
    public var description: String {
        switch served {
        case .network: "from the network: \(reason)"
        case .cache(let age, let left): "from the cache: \(reason); \(age.brief) old, good for \(left.brief) more"
        case .revalidated: "from the cache, revalidated: \(reason)"
        case .stale(let because): "from the cache, stale: \(because)"
        case .refused: "refused: \(reason)"
        case .fallback: "from the fallback: \(reason)"
        }
    }
}

extension HTTPResponse {
    /// The source of the response and the reason for it.
    public var cacheVerdict: CacheVerdict { verdict?.value ?? .none }

    /// The source of the response. `.network` in a pipeline without `.caching()`.
    public var served: CacheVerdict.Served { cacheVerdict.served }
}

/// Holds a verdict behind one reference, so that responses without a cache do not carry its size.
package final class CacheVerdictBox: Sendable {
    let value: CacheVerdict

    init(_ value: CacheVerdict) { self.value = value }
}

/// The reasons of verdicts. Texts are formatted on access only.
enum CacheCause: Hashable, Sendable {
    case noCache, nothingStored, nothingMatches, onlyPartsStored, entryIsGone, fresh, heuristicallyFresh, freshByRule
    case stillGood, validatedBeside
    case replaced
    case method(String), bodyIsNoKey, bodyIsUnknown, principalUnknown([String]), principalOfProcess, principalChanged
    case storeFailed, callReloads, callStoresNothing, callHasPreconditions, callAsksToValidate, credentialMissing
    case olderThanAsked, lessFreshThanAsked, responseAsksToValidate, stale(seconds: Int), clockWentBack
    case onlyIfCached, unreachable(String)
    case callFailed(String)
    case kept, freshens, requestForbids, responseForbids, notUnderstood(Int), notMarked
    case variesOnEverything, dependsOnMore(Int), notWorthKeeping, partIsUnclear, tooLong, noBytes, invalidated

    var text: String {
        switch self {
        case .noCache: "there is no cache in the pipeline"
        case .nothingStored: "nothing is stored for it"
        case .nothingMatches: "what is stored was for other request fields (Vary)"
        case .onlyPartsStored: "only a part is stored, and not all that is asked for"
        case .entryIsGone: "the entry was gone when its body was wanted"
        case .fresh: "it is fresh"
        case .heuristicallyFresh: "it is fresh by its age (the server named no time)"
        case .freshByRule: "it is fresh by CacheRules.lifetimes"
        case .validatedBeside: "the server says that it is still good, to a call that asked at the same time"
        case .stillGood: "the server says that it is still good"
        case .replaced: "the server sent another one"
        case .method(let method): "\(method) is not answered from the cache"
        case .bodyIsNoKey: "the request has a body, and the call does not say that it belongs to the key"
        case .bodyIsUnknown: "the body of the request is not in memory, or too long to be a key"
        case .principalUnknown(let names):
            "not kept, because nobody can tell whose answer it is" + (names.isEmpty ? "" : ": \(names.inWords) cannot")
        case .principalOfProcess:
            "not kept, because it is for a credential that only this process knows, and the store outlives it"
        case .principalChanged: "not kept, because somebody signed in or out meanwhile"
        case .storeFailed: "the store failed, or has no room"
        case .callReloads: "the call asks to load it again"
        case .callStoresNothing: "the call asks to keep nothing"
        case .callHasPreconditions: "the call has preconditions that only the server can check"
        case .callAsksToValidate: "the call asks to have it validated"
        case .credentialMissing: "the call needs a credential, and there is none"
        case .olderThanAsked: "it is older than the call takes"
        case .lessFreshThanAsked: "it is not fresh for as long as the call asks"
        case .responseAsksToValidate: "the server wants it validated each time (no-cache)"
        case .stale(let seconds): "it is stale by \(seconds) s"
        case .clockWentBack: "the clock was set back since it was stored"
        case .onlyIfCached: "the call takes only what is stored"
        case .unreachable(let error): "it must be validated, and the server cannot be reached: \(error)"
        case .callFailed(let error): "the call failed: \(error)"
        case .kept: "the answer is kept once it is read to its end"
        case .freshens: "what is stored is updated"
        case .requestForbids: "not kept, because the request says no-store"
        case .responseForbids: "not kept, because the server says no-store"
        case .notUnderstood(let status): "not kept, because \(status) has rules that are not known (must-understand)"
        case .notMarked: "not kept, because neither status nor fields say that it may be"
        case .variesOnEverything: "not kept, because it differs each time (Vary: *)"
        case .dependsOnMore(let status): "not kept, because \(status) depends on more than the URL"
        case .notWorthKeeping: "not kept, because it is stale at once and cannot be validated"
        case .partIsUnclear: "not kept, because the part has no range of bytes that can be read"
        case .tooLong: "not kept, because it is longer than the cache takes"
        case .noBytes: "not kept, because it has no bytes"
        case .invalidated: "not kept, because it was changed while it was on its way"
        }
    }
}
