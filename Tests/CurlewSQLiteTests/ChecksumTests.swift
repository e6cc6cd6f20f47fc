// SPDX-License-Identifier: MIT

import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

/// Bytes that changed on the disk.
@Suite(.timeLimit(.minutes(2)))
struct ChecksumTests {
    private static let principals: [String?] = [nil, "ann", "robert"]
    private static let sizes = [0, 1, 900, 900, 30_000, 100_001, 1_100_000]

    let folder: TemporaryFolder
    let notices = Notices()

    init() throws { folder = try TemporaryFolder() }

    private func store(_ name: String = "one") -> HTTPCache.SQLiteStore {
        HTTPCache.SQLiteStore(path: "\(folder.path)/\(name)/c.sqlite") { [notices] in notices.note($0) }
    }

    private static func head(_ number: Int, _ principal: String?) -> HTTPCache.Entry {
        let time = Date(timeIntervalSinceReferenceDate: Double(number))
        return HTTPCache.Entry(
            key: HTTPCache.Entry.Key(target: "https://a.example/\(number)", principal: principal),
            headers: ["X-Owner": principal ?? "nobody"], requestTime: time, responseTime: time, tags: ["t"])
    }

    private static func body(_ number: Int, _ principal: String?) -> Data {
        var random = SeededGenerator(seed: UInt64(number) * 3 + UInt64(principal?.utf8.count ?? 9))
        return Data((0..<sizes[number]).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    @discardableResult
    private func fill(_ store: HTTPCache.SQLiteStore) async throws -> ([HTTPCache.Entry], [HTTPCache.Entry.Key: Data]) {
        var (heads, bodies) = ([HTTPCache.Entry](), [HTTPCache.Entry.Key: Data]())
        for number in Self.sizes.indices {
            // The longest body has no principal, because it costs the most time.
            for principal in number == Self.sizes.count - 1 ? [nil] : Self.principals {
                let (head, body) = (Self.head(number, principal), Self.body(number, principal))
                let writer = try await store.write(head)
                #expect(try await writer.append(body))
                #expect(try await writer.commit(replacing: []))
                heads.append(head)
                bodies[head.key] = body
            }
        }
        return (heads, bodies)
    }

    /// Looks all entries up, and returns those that can be read. Records an issue for each that is wrong.
    private func read(
        _ heads: [HTTPCache.Entry], _ bodies: [HTTPCache.Entry.Key: Data], _ store: HTTPCache.SQLiteStore,
        _ comment: Comment
    ) async -> Int {
        var count = 0
        for head in heads {
            guard let found = try? await store.variants(for: head.key).first,
                let bytes = try? await store.bytes(of: found)
            else { continue }
            #expect(bytes == bodies[head.key], comment)
            #expect(found.key == head.key && found.headers == head.headers, comment)
            #expect(found.responseTime == head.responseTime && found.tags == head.tags, comment)
            count += 1
        }
        return count
    }

    @Test("A changed byte in any file is never returned, is reported, and its entry removed")
    func flippedBytes() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let first = store()
        let (heads, bodies) = try await fill(first)
        try await first.queue.run { try $0.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        // Half of the entries are in the log as well.
        for head in heads.prefix(9) { _ = try await first.update(head) }
        let files = try FileManager.default.subpathsOfDirectory(atPath: first.path + "-bodies").map { "-bodies/" + $0 }
        var removals = 0
        for round in 0..<200 {
            let copy = store("\(round)")
            try FileManager.default.createDirectory(
                atPath: copy.path + "-bodies", withIntermediateDirectories: true)
            for name in ["", "-wal"] + files {
                try FileManager.default.copyItem(atPath: first.path + name, toPath: copy.path + name)
            }
            let name = try #require((["", "-wal"] + files).randomElement(using: &random))
            let file = copy.path + name
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
            let place = try UInt64.random(in: 0..<handle.seekToEnd(), using: &random)
            try handle.seek(toOffset: place)
            let old = try #require(try handle.read(upToCount: 1)?.first)
            try handle.seek(toOffset: place)
            try handle.write(contentsOf: [old ^ UInt8.random(in: 1...255, using: &random)])
            try handle.close()
            let comment: Comment = "seed \(seed), round \(round), byte \(place) of \(file)"
            let before = notices.list.count
            let count = await read(heads, bodies, copy, comment)
            let removed = notices.list.dropFirst(before).count { if case .removed = $0 { true } else { false } }
            if removed > 0 {
                #expect(try await copy.statistics().entries <= heads.count - removed, comment)
                #expect(count <= heads.count - removed, comment)
            }
            removals += removed
            // What was damaged stays away. A sweep in the background may have found more of it.
            #expect(await read(heads, bodies, copy, comment) <= count, comment)
            try FileManager.default.removeItem(atPath: (copy.path as NSString).deletingLastPathComponent)
        }
        #expect(removals >= 50, "seed \(seed)")
    }

    enum Damage: CaseIterable {
        case swappedPrincipals, swappedBodies, swappedHeads, swappedFiles, truncatedFile, missingFile, longerFile
    }

    @Test("Rows and files that were exchanged or cut are removed and reported", arguments: Damage.allCases)
    func exchanged(_ damage: Damage) async throws {
        let store = store()
        let (heads, bodies) = try await fill(store)
        let inside = heads.filter { $0.key.target.hasSuffix("/2") }.suffix(2).map(\.id.number)
        let outside = heads.filter { $0.key.target.hasSuffix("/5") }.suffix(2).map {
            "\(store.path)-bodies/\($0.id.number)"
        }
        func swap(_ column: String) async throws {
            try await store.queue.run { table in
                let values = try inside.map { id in
                    try table.connection.rows("SELECT \(column) FROM entries WHERE id = \(id)") { $0.bytes(0) }.first
                }
                for (id, value) in zip(inside.reversed(), values) {
                    let value = try #require(value ?? nil)
                    try table.connection.run("UPDATE entries SET \(column) = ? WHERE id = \(id)", [.bytes(value)])
                }
            }
        }
        switch damage {
        case .swappedPrincipals: try await swap("principal")
        case .swappedBodies: try await swap("body")
        case .swappedHeads: try await swap("head")
        case .swappedFiles:
            #expect(rename(outside[0], outside[0] + "-") == 0 && rename(outside[1], outside[0]) == 0)
            #expect(rename(outside[0] + "-", outside[1]) == 0)
        case .truncatedFile: for file in outside { #expect(truncate(file, 100_000) == 0) }
        case .missingFile: for file in outside { #expect(unlink(file) == 0) }
        case .longerFile: for file in outside { #expect(truncate(file, 100_002) == 0) }
        }
        #expect(await read(heads, bodies, store, "\(damage)") == heads.count - 2)
        #expect(notices.list.count == 2 && notices.list.allSatisfy { "\($0)".contains("damaged and has been removed") })
        #expect(try await store.statistics().entries == heads.count - 2)
    }

    @Test("Damaged totals are counted anew when nothing is left")
    func totals() async throws {
        let store = store()
        try await fill(store)
        try await store.queue.run { try $0.connection.execute("UPDATE totals SET bytes = 1 << 60") }
        try await store.put("https://a.example/first")
        try await store.put("https://a.example/second")
        #expect(try await store.statistics().entries == 1)
    }

    @Test("A checksum depends on seed, bytes and length, and not on how the bytes are divided")
    func sums() {
        let data = Data((0..<100).map { UInt8($0) })
        var sums: Set<Int64> = [Checksum.of(data, seed: 1)]
        for count in 0...100 { sums.insert(Checksum.of(data.prefix(count))) }
        for place in data.indices {
            for bit in 0..<8 {
                var other = data
                other[place] ^= 1 << bit
                sums.insert(Checksum.of(other))
            }
        }
        for zeros in 2..<20 { sums.insert(Checksum.of(Data(count: zeros))) }
        #expect(sums.count == 1 + 101 + 800 + 18)
        // Words and blocks that changed places.
        for size in [8, 32] {
            for place in stride(from: size, to: 96, by: size) {
                var other = data
                other.replaceSubrange(0..<size, with: data[place..<place + size])
                other.replaceSubrange(place..<place + size, with: data[0..<size])
                sums.insert(Checksum.of(other))
            }
        }
        #expect(sums.count == 1 + 101 + 800 + 18 + 11 + 2)
        for step in 1..<20 {
            var sum = Checksum(seed: 0)
            for start in stride(from: 0, to: 100, by: step) { sum.add(data[start..<min(start + step, 100)]) }
            #expect(sum.value == Checksum.of(data))
        }
    }
}
