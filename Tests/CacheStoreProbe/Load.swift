// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewHTTP
import CurlewSQLite
import Foundation
import TestFixtures

/// Random work on one store, whose bodies are determined by their heads.
struct Load {
    let store: HTTPCache.SQLiteStore
    private var random: SeededGenerator

    /// Few keys, so that processes meet.
    static let keys = 40

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    init(_ store: HTTPCache.SQLiteStore, seed: UInt64) {
        self.store = store
        random = SeededGenerator(seed: seed)
    }

    static func key(_ number: Int) -> HTTPCache.Entry.Key {
        HTTPCache.Entry.Key(target: "https://api.example/\(number)")
    }

    /// Pages of one byte each, so that a part of another body, or one that is cut off, cannot look right.
    static func body(_ mark: UInt64) -> Data {
        let count = Int(mark % 5 == 0 ? mark % 300_000 : mark % 20_000)
        var data = Data(capacity: count)
        var page = mark
        while data.count < count {
            data.append(Data(repeating: UInt8(truncatingIfNeeded: page), count: min(4096, count - data.count)))
            page = page &* 31 &+ 7
        }
        return data
    }

    mutating func write() async throws {
        let mark = UInt64.random(in: 0 ... .max, using: &random)
        let now = Date()
        let head = HTTPCache.Entry(
            key: Self.key(Int.random(in: 0..<Self.keys, using: &random)), headers: ["X-Mark": "\(mark)"],
            requestTime: now, responseTime: now)
        let writer = try await store.write(head)
        let body = Self.body(mark)
        for start in stride(from: 0, to: body.count, by: 50_000) {
            guard try await writer.append(body[start..<min(start + 50_000, body.count)]) else { return }
        }
        _ = try await writer.commit(replacing: [])
    }

    /// Reads the entries of a key, and throws if one is not what its head says. How many there were.
    @discardableResult
    static func check(_ key: HTTPCache.Entry.Key, in store: HTTPCache.SQLiteStore) async throws -> Int {
        var count = 0
        for head in try await store.variants(for: key) {
            guard let mark = UInt64(head.headers["X-Mark"] ?? "") else { throw Wrong(description: "a head is damaged") }
            guard let body = try await store.body(of: head) else { continue }
            defer { body.close() }
            var all = Data()
            while true {
                let chunk = try await body.read(from: Int64(all.count), upTo: 1 << 20)
                if chunk.isEmpty { break }
                all.append(chunk)
            }
            guard all == Self.body(mark) else {
                throw Wrong(description: "a body of \(all.count) bytes is not the one of its head")
            }
            count += 1
        }
        return count
    }

    mutating func step() async throws {
        let key = Self.key(Int.random(in: 0..<Self.keys, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2: try await write()
        case 3:
            guard let head = try await store.variants(for: key).first else { return }
            try await store.update(head)
        case 4 where Int.random(in: 0..<10, using: &random) == 0: try await store.remove(.target(key.target))
        default: try await Self.check(key, in: store)
        }
    }
}
