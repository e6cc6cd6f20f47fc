// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// Memory that bodies reuse: no byte changes while a reader holds it.
@Suite(.timeLimit(.minutes(1)))
struct BodyMemoryTests {
    @Test("Data gathered in pieces of any size stays the same", arguments: 0..<200 as Range<UInt64>)
    func pieces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let memory = BodyMemory()
        var kept: [(Data, Data)] = []
        for _ in 0..<20 {
            let bytes = pattern(Int.random(in: 0...(1 << Int.random(in: 1...21, using: &random)), using: &random))
            let length = [nil, Int64(bytes.count), .max, 0].randomElement(using: &random) ?? nil
            var body = GatheredBody()
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...120_000, using: &random))
                piece.withUnsafeBytes { body.append($0, of: length, memory: memory) }
                rest = rest.dropFirst(piece.count)
                let isRight = body.count == bytes.count - rest.count
                #expect(isRight, "seed \(seed)")
            }
            let isSame = body.prefix(100) == bytes.prefix(100)
            #expect(isSame, "seed \(seed)")
            kept.append((bytes, body.take()))
            #expect(body.count == 0)
            if kept.count > 5 { kept.remove(at: Int.random(in: 0..<kept.count, using: &random)) }
            // Comparing within the expectation would describe a difference of megabytes.
            let areSame = kept.allSatisfy { $0 == $1 }
            #expect(areSame, "seed \(seed)")
        }
    }

    @Test("Blocks have the requested size and at most a quarter more, in few sizes")
    func sizes() {
        var sizes: Set<Int> = []
        for count in stride(from: BodyMemory.minimumSize, through: 4 << 20, by: 997) {
            let size = BodyMemory.size(for: count)
            #expect(size >= count && size <= count + count / 4)
            sizes.insert(size)
        }
        #expect(sizes.count <= 26)
        #expect(BodyMemory.size(for: 1) == BodyMemory.minimumSize)
        #expect(BodyMemory.size(for: 1 << 20) == 1 << 20)
    }

    @Test("Data that a caller keeps does not hold much more memory than it needs")
    func sparing() {
        let memory = BodyMemory()
        for (count, isCopied) in [(70_000, true), (100_000, true), (125_000, false)] {
            // It is shorter than declared; so may be the room for a body of unknown length.
            var body = GatheredBody()
            let bytes = pattern(count)
            bytes.withUnsafeBytes { body.append($0, of: 160_000, memory: memory) }
            let kept = body.take()
            let isSame = kept == bytes
            #expect(isSame)
            // The block is back at once if its bytes have been copied.
            #expect(memory.isEmpty != isCopied, "\(count)")
            memory.forget()
        }
    }

    @Test("A block is reused when its data has gone, not before; few free blocks are kept")
    func reuse() {
        let memory = BodyMemory()
        func gathered() -> Data {
            var body = GatheredBody()
            pattern(1 << 20).withUnsafeBytes { body.append($0, of: nil, memory: memory) }
            return body.take()
        }
        func place(_ data: Data) -> UInt { data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        var first: Data? = gathered()
        let former = first.map(place)
        let second = gathered()
        #expect(place(second) != former && memory.isEmpty)
        first = nil
        #expect(!memory.isEmpty)
        let third = gathered()
        #expect(place(third) == former && memory.isEmpty)

        var many = (0..<20).map { _ in gathered() }
        many = []
        #expect(many.isEmpty && memory.kept == BodyMemory.limit)
        memory.forget()
        #expect(memory.isEmpty && memory.kept == 0)
        let areWhole = second == pattern(1 << 20) && third == second
        #expect(areWhole)
    }

    @Test("Bodies that callers keep stay as they are while others come")
    func kept() async throws {
        let server = try MockServer()
        let sizes = [70_000, 100_000, 500_000, 1_000_000, 1_048_576]
        for size in sizes { server.on(.get, "/\(size)", respond: .generated(bytes: size)) }
        let transport = CurlTransport()
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<8 {
                group.addTask {
                    var kept: [Data] = []
                    var wrong = 0
                    for round in 0..<25 {
                        let size = sizes[(lane + round) % sizes.count]
                        kept.append(try await transport.exchange(.get, "\(server.url)/\(size)").data())
                        if kept.count > 3 { kept.removeFirst() }
                        wrong += kept.filter { $0 != pattern($0.count) }.count
                    }
                    return wrong
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test("Chunks that readers keep stay as they are while others come")
    func keptChunks() async throws {
        let server = try MockServer()
        let whole = pattern(5_000_000)
        server.on(.get, "/", respond: .generated(bytes: whole.count))
        let isRight: @Sendable ((start: Int, bytes: Data)) -> Bool = {
            whole[$0.start..<($0.start + $0.bytes.count)] == $0.bytes
        }
        let transport = CurlTransport()
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<6 {
                group.addTask {
                    var wrong = 0
                    for _ in 0..<3 {
                        let body = try await transport.exchange(.get, server.url + "/").body
                        var kept: [(start: Int, bytes: Data)] = []
                        var start = 0
                        for try await chunk in body {
                            kept.append((start, chunk))
                            start += chunk.count
                            // Some read slowly, so that pieces are joined; some keep much.
                            for _ in 0..<(lane * 20) { await Task.yield() }
                            if kept.count > lane * 2 + 1 { wrong += isRight(kept.removeFirst()) ? 0 : 1 }
                        }
                        wrong += start == whole.count && kept.allSatisfy(isRight) ? 0 : 1
                    }
                    return wrong
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
