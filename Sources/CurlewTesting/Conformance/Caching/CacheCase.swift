// SPDX-License-Identifier: MIT

public import CurlewCore

/// One thing that every cache store, or every cache over it, has to do, as a value that can be run on any of them.
///
///     @Test(arguments: CacheSuite.stores)
///     func keepsTheContract(_ one: CacheCase) async throws {
///         try await one.run(on: CacheStoreMaker("memory") { limits in
///             MemoryCacheStore(byteLimit: limits.bytes, entryLimit: limits.entries, bodyLimit: limits.body)
///         })
///     }
///
/// Each case makes stores of its own and shares nothing; cases may run at the same time.
public struct CacheCase: Sendable {
    /// What is expected, as a sentence. Unique in the suite.
    public let name: String
    /// Where the expectation comes from: a section of an RFC, or the contract of `CacheStore`.
    public let rule: String

    private let body: @Sendable (CacheTrial) async throws -> Void

    init(_ name: String, rule: String, body: @escaping @Sendable (CacheTrial) async throws -> Void) {
        self.name = name
        self.rule = rule
        self.body = body
    }

    /// Runs the case: returns if the store does what is expected, throws ``ConformanceFailure`` if it does not.
    public func run(on maker: CacheStoreMaker) async throws {
        do {
            try await body(CacheTrial(maker))
        } catch let failure as ConformanceFailure {
            throw ConformanceFailure("\(maker.name): \(failure.message)")
        } catch {
            throw ConformanceFailure("\(maker.name): an error came where none was expected: \(error)")
        }
    }
}

extension CacheCase: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

/// How the stores under test are made: a new one with nothing in it each time.
public struct CacheStoreMaker: Sendable, CustomStringConvertible {
    /// The limits of a store, as `MemoryCacheStore` has them.
    public struct Limits: Sendable {
        /// The most bytes of all entries together.
        public var bytes: Int64 = 64 << 20
        /// The most entries.
        public var entries = 10_000
        /// The most bytes of one body.
        public var body: Int64 = 8 << 20
    }

    /// How the store is called in messages.
    public let name: String
    /// Makes a store that holds itself to `limits`.
    public let make: @Sendable (_ limits: Limits) async throws -> any CacheStore

    /// A maker of stores.
    public init(_ name: String, make: @escaping @Sendable (_ limits: Limits) async throws -> any CacheStore) {
        self.name = name
        self.make = make
    }

    /// The stores in memory that come with the package.
    public static let memory = CacheStoreMaker("memory") { limits in
        MemoryCacheStore(byteLimit: limits.bytes, entryLimit: limits.entries, bodyLimit: limits.body)
    }

    /// The name.
    public var description: String { name }
}

/// The cases that a store of one's own has to pass: alone, and with the cache above it.
public enum CacheSuite {
    /// The contract of `CacheStore`.
    public static let stores: [CacheCase] = [
        StoreEntryCases.all, StoreHeadCases.all, StoreRemovalCases.all, StoreLimitCases.all, StoreLoadCases.all,
    ].flatMap { $0 }

    /// What RFC 9111, RFC 5861 and their relatives ask of a cache, over the store.
    public static let requirements: [CacheCase] = [
        StorageRules.all, ReuseRules.all, FreshnessRules.all, ValidationRules.all, DirectiveRules.all, PartialRules.all,
        StaleRules.all,
    ].flatMap { $0 }
}
