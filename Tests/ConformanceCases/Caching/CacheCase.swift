// SPDX-License-Identifier: MIT

public import CurlewCaching
import CurlewCore

/// A test case for a requirement of a cache store, or of a cache that uses the store. It can run with any store.
///
///     @Test(arguments: CacheSuite.stores)
///     func keepsTheContract(_ one: CacheCase) async throws {
///         try await one.run(on: CacheStoreMaker("memory") { limits in
///             HTTPCache.MemoryStore(byteLimit: limits.bytes, entryLimit: limits.entries, bodyLimit: limits.body)
///         })
///     }
///
/// Each case creates its own stores and shares nothing, so cases may run concurrently.
public struct CacheCase: Sendable {
    /// The requirement as a sentence, unique in its suite.
    public let name: String
    /// The source of the requirement: a section of an RFC, or the contract of `HTTPCache.Store`.
    public let rule: String

    private let body: @Sendable (CacheTrial) async throws -> Void

    init(_ name: String, rule: String, body: @escaping @Sendable (CacheTrial) async throws -> Void) {
        self.name = name
        self.rule = rule
        self.body = body
    }

    /// Runs the case with stores that `maker` creates. Throws a ``ConformanceFailure`` if a store does not meet the
    /// requirement or throws an unexpected error.
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
    /// The name of the case.
    public var description: String { name }
}

/// A factory for the stores under test. It creates a new, empty store each time.
public struct CacheStoreMaker: Sendable, CustomStringConvertible {
    /// The limits that a store must enforce, like those of `HTTPCache.MemoryStore`.
    public struct Limits: Sendable {
        /// The maximum number of bytes of all entries together. Default 64 MiB.
        public var bytes: Int64 = 64 << 20
        /// The maximum number of entries. Default 10,000.
        public var entries = 10_000
        /// The maximum number of bytes of one body. Default 8 MiB.
        public var body: Int64 = 8 << 20
    }

    /// The name of the store in error messages.
    public let name: String
    /// A closure that creates a new, empty store with `limits`.
    public let make: @Sendable (_ limits: Limits) async throws -> any HTTPCache.Store

    /// Creates a factory. Error messages call its stores `name`.
    public init(_ name: String, make: @escaping @Sendable (_ limits: Limits) async throws -> any HTTPCache.Store) {
        self.name = name
        self.make = make
    }

    /// A factory that creates a `HTTPCache.MemoryStore`.
    public static let memory = CacheStoreMaker("memory") { limits in
        HTTPCache.MemoryStore(byteLimit: limits.bytes, entryLimit: limits.entries, bodyLimit: limits.body)
    }

    /// The text of ``name``.
    public var description: String { name }
}

/// The test cases for cache stores: for a store alone, and for a cache that uses the store.
public enum CacheSuite {
    /// The cases for the contract of `HTTPCache.Store`.
    public static let stores: [CacheCase] = [
        StoreEntryCases.all, StoreHeadCases.all, StoreRemovalCases.all, StoreLimitCases.all, StoreLoadCases.all,
    ].flatMap { $0 }

    /// The cases for RFC 9111, RFC 5861 and related specifications, as a cache that uses the store must meet them.
    public static let requirements: [CacheCase] = [
        StorageRules.all, ReuseRules.all, FreshnessRules.all, ValidationRules.all, DirectiveRules.all, PartialRules.all,
        StaleRules.all,
    ].flatMap { $0 }
}
