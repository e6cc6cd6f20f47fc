// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Bodies that are read while they arrive, by several at once.
@Suite(.timeLimit(.minutes(1)))
struct SharedBodyTests {
    static let chunks = (0..<64).map { Data(repeating: UInt8($0), count: 1000) }
    static let whole = chunks.reduce(Data(), +)

    /// Calls that share one answer, and where its body comes from.
    static func shared(
        _ count: Int, window: Int = 4000, chunks: [Data] = chunks, error: NetworkError? = nil, waitsAtEnd: Bool = false
    ) async throws -> (bodies: [ResponseBody], source: ChunkSource, sharing: Sharing) {
        let source = ChunkSource(chunks, error: error, waitsAtEnd: waitsAtEnd)
        let sharing = Sharing([.coalescing(window: window, patience: .seconds(3))]) { _ in
            HTTPResponse(body: ResponseBody(source, limit: 1 << 20, length: 64_000))
        }
        var calls: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<count { calls.append(try await sharing.begin(Request<HTTPResponse>.get("/x"))) }
        sharing.origin.open()
        var bodies: [ResponseBody] = []
        for call in calls { bodies.append(try await call.value.body) }
        return (bodies, source, sharing)
    }

    /// What one reader gets, and how it ends.
    static func read(_ body: ResponseBody, _ taken: Tally? = nil) async -> (Data, NetworkError?) {
        var all = Data()
        do {
            for try await chunk in body {
                all += chunk
                taken?.add()
            }
            return (all, nil)
        } catch {
            return (all, NetworkError(error))
        }
    }

    @Test("all readers get all bytes, and each is pulled once", arguments: [1, 2, 50])
    func everything(count: Int) async throws {
        let (bodies, source, _) = try await Self.shared(count)
        await withTaskGroup(of: (Data, NetworkError?).self) { group in
            for body in bodies { group.addTask { await Self.read(body) } }
            for await (data, error) in group {
                #expect(data == Self.whole)
                #expect(error == nil)
            }
        }
        #expect(source.pulls == 65)
        #expect(bodies.allSatisfy { $0.declaredLength == 64_000 })
    }

    @Test("a body that breaks off breaks off for all, after the same bytes")
    func failure() async throws {
        let (bodies, _, _) = try await Self.shared(5, error: NetworkError(.connectionLost(.requestMayHaveArrived)))
        let readers = bodies.map { body in Task { await Self.read(body) } }
        for reader in readers {
            let (data, error) = await reader.value
            #expect(data == Self.whole)
            #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        }
    }

    @Test("nothing is pulled before somebody reads, and a reader alone gets one chunk for each that it takes")
    func demand() async throws {
        let (bodies, source, _) = try await Self.shared(1)
        #expect(source.pulls == 0)
        var reader = bodies[0].makeAsyncIterator()
        for taken in 1...10 {
            _ = try await reader.next()
            #expect(source.pulls == taken)
        }
    }

    @Test("the slowest reader holds the others within the window, and lets them go on")
    func window() async throws {
        let (bodies, source, sharing) = try await Self.shared(2)
        var slow = bodies[0].makeAsyncIterator()
        let fast = Task { await Self.read(bodies[1]) }
        // The fast one waits for the slow one: nobody else sleeps on this clock.
        try await sharing.clock.waitForSleepers(1, .all)
        #expect(source.pulls == 4)
        for taken in 1...20 {
            #expect(try await slow.next() == Self.chunks[taken - 1])
            #expect(source.pulls <= taken + 4)
        }
        var rest = 20
        while try await slow.next() != nil { rest += 1 }
        #expect(rest == 64)
        #expect(await fast.value.0 == Self.whole)
    }

    @Test("a reader that stands still is left behind, and the others go on")
    func standing() async throws {
        let (bodies, source, sharing) = try await Self.shared(3)
        let taken = Tally()
        let readers = bodies.prefix(2).map { body in Task { await Self.read(body, taken) } }
        try await taken.reaches(8)
        try await sharing.clock.waitForSleepers(1, .all)
        #expect(source.pulls == 4)
        sharing.clock.advance(by: .seconds(1.5))
        try await sharing.clock.waitForSleepers(1, .all)
        #expect(source.pulls == 4)
        sharing.clock.advance(by: .seconds(1.5))
        for reader in readers { #expect(await reader.value == (Self.whole, nil)) }
        let (data, error) = await Self.read(bodies[2])
        #expect(data.isEmpty)
        #expect(error?.reason == .timedOut(.idle))
        #expect(error?.hint?.contains("coalesces") == true)
    }

    @Test("a reader that moves is not left behind, however slow it is")
    func crawling() async throws {
        let (bodies, _, sharing) = try await Self.shared(2)
        var slow = bodies[0].makeAsyncIterator()
        let fast = Task { await Self.read(bodies[1]) }
        for index in 0..<60 {
            try await sharing.clock.waitForSleepers(1, .all)
            sharing.clock.advance(by: .seconds(1.4))
            #expect(try await slow.next() == Self.chunks[index])
        }
        var rest = 60
        while try await slow.next() != nil { rest += 1 }
        #expect(rest == 64)
        #expect(await fast.value == (Self.whole, nil))
    }

    @Test("an answer that nobody reads hurries nobody")
    func allStanding() async throws {
        let (bodies, source, sharing) = try await Self.shared(2)
        sharing.clock.advance(by: .seconds(3600))
        #expect(source.pulls == 0)
        let readers = bodies.map { body in Task { await Self.read(body) } }
        for reader in readers { #expect(await reader.value == (Self.whole, nil)) }
    }

    @Test("who lets go of its answer holds up nobody, and the last one ends the transfer")
    func letGo() async throws {
        var (bodies, source, _) = try await Self.shared(3)
        bodies.removeLast()
        let reader = Task { [body = bodies[1]] in await Self.read(body) }
        bodies.removeLast()
        bodies.removeLast()
        #expect(await reader.value == (Self.whole, nil))

        var others: [ResponseBody]
        (others, source, _) = try await Self.shared(3)
        var iterator: ResponseBody.Iterator? = others[0].makeAsyncIterator()
        _ = try await iterator?.next()
        iterator = nil
        others.removeFirst()
        #expect(!source.wasCancelled)
        others.removeAll()
        while !source.wasCancelled { await Task.yield() }
        #expect(source.pulls == 1)
    }

    @Test("cancelling one reader leaves the others, and cancelling the last ends the transfer")
    func cancellation() async throws {
        let (bodies, source, _) = try await Self.shared(2, waitsAtEnd: true)
        let taken = bodies.map { _ in Tally() }
        let readers = zip(bodies, taken).map { body, taken in Task { await Self.read(body, taken) } }
        for tally in taken { try await tally.reaches(Self.chunks.count) }
        while source.pulls < 65 { await Task.yield() }
        readers[0].cancel()
        #expect(await readers[0].value.1?.reason == .cancelled)
        #expect(!source.wasCancelled)
        readers[1].cancel()
        #expect(await readers[1].value == (Self.whole, NetworkError(.cancelled)))
        while !source.wasCancelled { await Task.yield() }
    }

    @Test("a deadline ends the reading of one")
    func deadline() async throws {
        let source = ChunkSource(Self.chunks, waitsAtEnd: true)
        let sharing = Sharing { _ in HTTPResponse(body: ResponseBody(source, limit: 1 << 20, length: nil)) }
        let patient = try await sharing.begin(Request<HTTPResponse>.get("/x"))
        let hurried = try await sharing.begin(
            Request<HTTPResponse>.get("/x").options {
                $0.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(1))
            })
        sharing.origin.open()
        let bodies = [try await patient.value.body, try await hurried.value.body]
        let taken = bodies.map { _ in Tally() }
        let readers = zip(bodies, taken).map { body, taken in Task { await Self.read(body, taken) } }
        for tally in taken { try await tally.reaches(Self.chunks.count) }
        while source.pulls < 65 { await Task.yield() }
        try await sharing.clock.waitForSleepers(1, .all)
        sharing.clock.advance(by: .seconds(1))
        #expect(await readers[1].value == (Self.whole, NetworkError(.timedOut(.total))))
        #expect(!source.wasCancelled)
        readers[0].cancel()
        #expect(await readers[0].value.1?.reason == .cancelled)
    }
}

private func == (left: (Data, NetworkError?), right: (Data, NetworkError?)) -> Bool {
    left.0 == right.0 && left.1?.reason == right.1?.reason
}
