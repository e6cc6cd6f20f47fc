// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewURLSession

/// A body that is not complete never ends in a way that could be taken for its end.
@Suite(.timeLimit(.minutes(1)))
struct BodyFeedTests {
    private struct Broken: Error {}

    /// What a producer does after its chunks.
    private enum Ending: CaseIterable {
        case complete, throwing, tooShort, tooLong
    }

    private static func chunks(_ chunks: [Data], then ending: Ending = .complete) -> @Sendable () -> ChunkPull {
        {
            let source = Locked(chunks[...])
            return {
                if let chunk = source.withLock({ $0.popFirst() }) { return chunk }
                if ending == .throwing { throw Broken() }
                return nil
            }
        }
    }

    @Test("A complete body is closed at once, and once")
    func complete() async {
        let sink = Sink(room: 3)
        let feed = BodyFeed(sink)
        let errors = Locked<[NetworkError]>([])
        feed.start(length: 10, Self.chunks([Data("01234".utf8), Data("56789".utf8)])) { error in
            errors.withLock { $0.append(error) }
        }
        #expect(await eventually { sink.closings == 1 })
        #expect(sink.written == Data("0123456789".utf8))
        feed.stop()
        feed.release()
        #expect(sink.closings == 1 && errors.withLock { $0.isEmpty })
    }

    @Test("A failed body stays open until URLSession has ended the task", arguments: [10, 9, 11] as [Int64])
    func broken(length: Int64) async {
        let sink = Sink(room: 64)
        let feed = BodyFeed(sink)
        let error = Locked<NetworkError?>(nil)
        let chunks = Self.chunks([Data("0123456789".utf8)], then: length == 10 ? .throwing : .complete)
        feed.start(length: length, chunks) { failure in error.withLock { $0 = failure } }
        #expect(await eventually { error.withLock { $0 != nil } })
        #expect(error.withLock { $0?.reason } == .encoding)
        #expect(sink.closings == 0)
        // The exchange ends for its caller before URLSession has cancelled the task.
        feed.stop()
        #expect(sink.closings == 0)
        feed.release()
        #expect(sink.closings == 1)
    }

    @Test("An unopened body ends with its exchange")
    func unopened() async {
        let sink = Sink(room: 0)
        let feed = BodyFeed(sink)
        let isGone = Locked(false)
        feed.start(length: nil, Self.held(isGone)) { _ in Issue.record("no waiter is notified") }
        #expect(await eventually { sink.isAwaited })
        feed.stop()
        #expect(sink.closings == 0)
        feed.release()
        #expect(await eventually { isGone.withLock { $0 } })
    }

    @Test("A slow producer is cancelled with its exchange")
    func slow() async {
        let sink = Sink(room: 64)
        let feed = BodyFeed(sink)
        let isCancelled = Locked(false)
        let pull: @Sendable () -> ChunkPull = {
            {
                let (stream, _) = AsyncStream<Data>.makeStream()
                let chunk = await stream.first { _ in true }
                isCancelled.withLock { $0 = Task.isCancelled }
                return chunk
            }
        }
        feed.start(length: nil, pull) { _ in Issue.record("no waiter is notified") }
        feed.stop()
        #expect(await eventually { isCancelled.withLock { $0 } })
        feed.release()
        #expect(sink.closings == 1 && sink.written.isEmpty)
    }

    @Test("When URLSession wants the body again, the first producer ends without a report")
    func anew() async {
        let (first, second) = (Sink(room: 0), Sink(room: 64))
        let feeds = BodyFeeds()
        let (old, new) = (BodyFeed(first), BodyFeed(second))
        let isGone = Locked(false)
        old.start(length: nil, Self.held(isGone)) { _ in Issue.record("no waiter is notified") }
        feeds.adopt(old)
        new.start(length: nil, Self.chunks([Data("whole".utf8)])) { _ in Issue.record("nothing fails") }
        feeds.adopt(new)
        #expect(await eventually { second.closings == 1 })
        #expect(second.written == Data("whole".utf8) && first.closings == 0)
        feeds.release()
        #expect(await eventually { isGone.withLock { $0 } })
        #expect(first.closings == 1 && second.closings == 1)
        let late = BodyFeed(Sink(room: 0))
        feeds.adopt(late)
        #expect(!late.stop(), "an exchange that is over begins nothing")
    }

    @Test("In any order of events, an open end is closed by the whole body or the task's end")
    func generated() async {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<300 {
            let chunks = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                Data(repeating: 7, count: Int.random(in: 0...40, using: &random))
            }
            let whole = chunks.reduce(Data(), +)
            let ending = Ending.allCases.randomElement(using: &random) ?? .complete
            let length: Int64? =
                switch ending {
                case .tooShort: Int64(whole.count + 1)
                case .tooLong: whole.isEmpty ? nil : Int64(whole.count - 1)
                default: Bool.random(using: &random) ? Int64(whole.count) : nil
                }
            let isWhole = ending == .complete || (ending == .tooLong && whole.isEmpty)
            let sink = Sink(
                room: Int.random(in: 1...20, using: &random),
                endsAfter: Int.random(in: 0..<4, using: &random) == 0
                    ? Int.random(in: 0...60, using: &random) : .max)
            let feed = BodyFeed(sink)
            feed.start(length: length, Self.chunks(chunks, then: ending)) { _ in }
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            if Bool.random(using: &random) { feed.stop() }
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            let closed = sink.closed
            if let content = closed {
                #expect(isWhole && content == whole, "closed early: seed \(seed), round \(round)")
            }
            feed.release()
            #expect(sink.closings == 1, "not closed, or twice: seed \(seed), round \(round)")
        }
    }

    /// A producer with one chunk that never arrives; `isGone` when it is no longer referenced.
    private static func held(_ isGone: Locked<Bool>) -> @Sendable () -> ChunkPull {
        {
            let token = Token(isGone)
            return { token.chunk }
        }
    }

    private final class Token: Sendable {
        let chunk = Data(count: 10)
        private let isGone: Locked<Bool>
        init(_ isGone: Locked<Bool>) { self.isGone = isGone }
        deinit { isGone.withLock { $0 = true } }
    }
}

/// Takes `room` bytes at a time; without room a writer waits until the sink is closed.
private final class Sink: UploadSink {
    private struct State {
        var written = Data()
        var waiting: CheckedContinuation<Void, Never>?
        var closings = 0
        var closed: Data?
    }

    private let room: Int
    /// The reader goes away after this many bytes.
    private let endsAfter: Int
    private let state = Locked(State())

    init(room: Int, endsAfter: Int = .max) {
        self.room = room
        self.endsAfter = endsAfter
    }

    var written: Data { state.withLock { $0.written } }
    var closings: Int { state.withLock { $0.closings } }
    /// What had been written when it was closed.
    var closed: Data? { state.withLock { $0.closed } }
    var isAwaited: Bool { state.withLock { $0.waiting != nil } }

    func write(_ data: Data) async -> Int? {
        if room == 0 {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.closings == 0 { state.waiting = continuation }
                    return state.closings > 0
                }
                if isOver { continuation.resume() }
            }
            return nil
        }
        await Task.yield()
        return state.withLock { state in
            guard state.closings == 0, state.written.count < endsAfter else { return nil }
            let piece = data.prefix(room)
            state.written += piece
            return piece.count
        }
    }

    func close() {
        let waiting = state.withLock { state in
            state.closings += 1
            if state.closed == nil { state.closed = state.written }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }
}
