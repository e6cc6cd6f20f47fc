// SPDX-License-Identifier: MIT

public import CurlewCaching
import CurlewCore

/// A requirement that every cache store, or every cache over it, has to meet, as a value that can be run on any of
/// them.
///
///     @Test(arguments: CacheSuite.stores)
///     func keepsTheContract(_ one: CacheCase) async throws {
///         try await one.run(on: CacheStoreMaker("memory") { limits in
///             MemoryCacheStore(byteLimit: limits.bytes, entryLimit: limits.entries, bodyLimit: limits.body)
///         })
///     }
///
/// Each case creates its own stores and shares nothing; cases may run concurrently.
public struct CacheCase: Sendable {
    /// The requirement as a sentence. Unique in the suite.
    public let name: String
    /// The source of the requirement: a section of an RFC, or the contract of `CacheStore`.
    public let rule: String

    private let body: @Sendable (CacheTrial) async throws -> Void

    init(_ name: String, rule: String, body: @escaping @Sendable (CacheTrial) async throws -> Void) {
        self.name = name
        self.rule = rule
        self.body = body
    }

    /// Runs the case. Returns if the store meets the requirement, and throws ``ConformanceFailure`` if it does not.
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

/// A factory of the stores under test, which creates a new, empty store each time.
public struct CacheStoreMaker: Sendable, CustomStringConvertible {
    /// The limits of a store, like those of `MemoryCacheStore`.
    public struct Limits: Sendable {
        /// The maximum number of bytes of all entries together.
        public var bytes: Int64 = 64 << 20
        /// The maximum number of entries.
        public var entries = 10_000
        /// The maximum number of bytes of one body.
        public var body: Int64 = 8 << 20
    }

    /// The name of the store in messages.
    public let name: String
    /// Creates a store that enforces `limits`.
    public let make: @Sendable (_ limits: Limits) async throws -> any CacheStore

    /// Creates a factory of stores.
    public init(_ name: String, make: @escaping @Sendable (_ limits: Limits) async throws -> any CacheStore) {
        self.name = name
        self.make = make
    }

    /// The package's memory store.
    public static let memory = CacheStoreMaker("memory") { limits in
        MemoryCacheStore(byteLimit: limits.bytes, entryLimit: limits.entries, bodyLimit: limits.body)
    }

    /// The name.
    public var description: String { name }
}

/// The cases for custom stores: on the store alone, and with the cache over it.
public enum CacheSuite {
    /// The contract of `CacheStore`.
    public static let stores: [CacheCase] = [
        StoreEntryCases.all, StoreHeadCases.all, StoreRemovalCases.all, StoreLimitCases.all, StoreLoadCases.all,
    ].flatMap { $0 }

    /// The requirements of RFC 9111, RFC 5861 and related specifications for a cache over the store.
    public static let requirements: [CacheCase] = [
        StorageRules.all, ReuseRules.all, FreshnessRules.all, ValidationRules.all, DirectiveRules.all, PartialRules.all,
        StaleRules.all,
    ].flatMap { $0 }
}
