// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import TestFixtures

/// One run of a cache case, with the factory for its stores.
struct CacheTrial: Sendable {
    let maker: CacheStoreMaker

    init(_ maker: CacheStoreMaker) {
        self.maker = maker
    }

    /// Creates a new, empty store with the default limits, or with the limits that `change` sets.
    func store(_ change: (inout CacheStoreMaker.Limits) -> Void = { _ in }) async throws -> any HTTPCache.Store {
        var limits = CacheStoreMaker.Limits()
        change(&limits)
        return try await maker.make(limits)
    }

    /// Creates the head of an entry. Its times are arbitrary.
    func head(
        _ target: String = "https://api.example/", content: String? = nil, principal: String? = nil,
        variant: String = "", tags: Set<String> = [], headers: HTTPHeaders = [:]
    ) -> HTTPCache.Entry {
        var response = HTTPCache.Entry(
            key: HTTPCache.Entry.Key(target: target, content: content, principal: principal), headers: headers,
            requestTime: Date(timeIntervalSinceReferenceDate: 0),
            responseTime: Date(timeIntervalSinceReferenceDate: 0.25), tags: tags)
        response.variant = variant
        return response
    }

    /// Stores an entry, writing its body in these chunks. Throws if the store refuses a chunk or the commit.
    @discardableResult
    func put(_ response: HTTPCache.Entry, _ chunks: Data..., in store: any HTTPCache.Store) async throws
        -> HTTPCache.Entry
    {
        let writer = try await store.write(response)
        for chunk in chunks {
            try expect(try await writer.append(chunk), "the store refuses a chunk of \(chunk.count) bytes")
        }
        try expect(try await writer.commit(replacing: []), "the store refuses to commit \(response)")
        return response
    }

    /// Reads the body of an entry, at most `step` bytes at a time, and returns it; nil if the entry does not exist.
    func read(_ response: HTTPCache.Entry, by step: Int = 1 << 16, in store: any HTTPCache.Store) async throws -> Data?
    {
        guard let body = try await store.body(of: response) else { return nil }
        defer { body.close() }
        return try await read(body, by: step)
    }

    func read(_ body: any HTTPCache.Entry.Body, by step: Int = 1 << 16) async throws -> Data {
        var all = Data()
        while true {
            let chunk = try await body.read(from: Int64(all.count), upTo: step)
            try expect(chunk.count <= step, "\(chunk.count) bytes came where at most \(step) were asked for")
            guard !chunk.isEmpty else { break }
            all.append(chunk)
        }
        try equal(body.length, Int64(all.count), "the length that the body tells")
        if let bytes = body.bytes { try equal(Data(bytes), all, "the bytes that are in memory") }
        return all
    }

    /// Returns the newest entry for the key. Throws if there is none.
    func newest(_ key: HTTPCache.Entry.Key, in store: any HTTPCache.Store) async throws -> HTTPCache.Entry {
        guard let first = try await store.variants(for: key).first else {
            throw ConformanceFailure("there is no entry for \(key.text)")
        }
        return first
    }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(ConformanceFailure) {
        if !condition { throw ConformanceFailure(message()) }
    }

    func equal<Value: Equatable>(
        _ found: Value, _ expected: Value, _ what: @autoclosure () -> String
    ) throws(ConformanceFailure) {
        guard found != expected else { return }
        func shown(_ value: Value) -> String { String("\(value)".debugDescription.prefix(300)) }
        throw ConformanceFailure("\(what()) is \(shown(found)), expected was \(shown(expected))")
    }
}

extension Data {
    /// Creates data from the UTF-8 bytes of a string.
    init(_ text: String) { self.init(text.utf8) }

    /// Returns `count` pseudorandom bytes, always the same for the same seed.
    static func pattern(_ count: Int, seed: UInt64 = 1) -> Data {
        var random = SeededGenerator(seed: seed)
        var data = Data(capacity: count)
        while data.count < count { Swift.withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
        return data.prefix(count)
    }
}
