// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// Every order of what a producer, a reader and an owner do to the account of a body, without bytes or threads.
@Suite(.timeLimit(.minutes(1)))
struct BodyAccountTests {
    @Test("Any five events in any order keep the rules", arguments: Owner.Event.allCases)
    func everyOrder(first: Owner.Event) {
        var owner = Owner(capacity: 4, batch: 2)
        var events = [first]
        owner.apply(first)
        let problem = follow(owner, &events, depth: 4)
        #expect(problem == nil, "\(problem ?? "") after \(events)")
    }

    /// The first problem, with the events that lead to it.
    private func follow(_ owner: Owner, _ events: inout [Owner.Event], depth: Int) -> String? {
        if let problem = owner.finished().problem { return problem }
        guard depth > 0 else { return nil }
        for event in Owner.Event.allCases {
            var next = owner
            next.apply(event)
            events.append(event)
            if let problem = follow(next, &events, depth: depth - 1) { return problem }
            events.removeLast()
        }
        return nil
    }

    @Test("Long random sequences with any capacity and batch size keep the rules")
    func generated() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<1_000 {
            let capacity = Int.random(in: 1...20, using: &random)
            let waiting = Int.random(in: 0...25, using: &random)
            var owner = Owner(capacity: capacity, batch: Int.random(in: 1...30, using: &random), waiting: waiting)
            var events: [Owner.Event] = []
            // Ends are rare, so that much happens before them.
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let isEnd = Int.random(in: 0..<20, using: &random) == 0
                let kinds = isEnd ? Owner.Event.ends : Owner.Event.allCases.filter { !Owner.Event.ends.contains($0) }
                guard let event = kinds.randomElement(using: &random) else { continue }
                events.append(event)
                owner.apply(event)
            }
            guard let problem = owner.finished().problem else { continue }
            Issue.record("seed \(seed), round \(round): \(problem) after \(events)")
            return
        }
    }

    @Test("A waiting reader gets a batch at once, and less when no more comes for now")
    func batches() {
        var account = BodyAccount(capacity: 10, batch: 4)
        #expect(account.read() == .wait)
        #expect(account.arrive(3) == .due && account.arrive(1) == .deliver && account.release() == .wait)
        #expect(account.read() == .wait && account.arrive(1) == .due && account.release() == .deliver)
        #expect(account.waiting == 0)
    }

    @Test("A producer that found no room is resumed once, by the read that makes room")
    func pause() {
        var account = BodyAccount(capacity: 4)
        #expect(account.arrive(4) == .wait && account.hasRoom() == false && account.arrive(1) == .pause)
        #expect(account.isPaused && account.waiting == 4)
        #expect(account.read() == .deliverAndResume && account.hasRoom())
        #expect(account.arrive(9) == .wait && account.read() == .deliver)
    }

    @Test("A body that was dropped after its end has no bytes, and fails where it is read")
    func abandonedAfterEnd() {
        var account = BodyAccount(capacity: 4)
        #expect(account.arrive(3) == .wait && account.finish(.success(())) == .wait)
        #expect(account.abandon() == .late && account.waiting == 0)
        #expect(account.read() == .end)
        #expect(account.end.map(Owner.name) == "cancelled")
    }
}

/// An owner as the transports are: it keeps the bytes and the reader, and watches that the rules are kept.
struct Owner {
    enum Event: CaseIterable {
        case one, three, forced, room, release, read, complete, fail, failDropping, abandon

        static let ends = [complete, fail, failDropping, abandon]
    }

    private(set) var problem: String?
    private var account: BodyAccount
    private let capacity: Int
    private let batch: Int
    /// Each byte is the number of those before it.
    private var bytes: [Int]
    private var given: Int
    private var taken: [Int] = []
    private var isReading = false
    private var isPaused = false
    private var isForced = false
    private var hasDropped = false
    /// How it ended, for the reader.
    private var end: String?
    private var told: String?

    init(capacity: Int, batch: Int, waiting: Int = 0) {
        account = BodyAccount(capacity: capacity, batch: batch, waiting: waiting)
        (self.capacity, self.batch) = (capacity, min(batch, capacity))
        bytes = Array(0..<waiting)
        given = waiting
        // What was there before counts like what had to be taken.
        isForced = waiting > capacity + 2
    }

    mutating func apply(_ event: Event) {
        switch event {
        case .one: bring(1)
        case .three: bring(3)
        case .forced: bring(3, isForced: true)
        case .room:
            let hasRoom = account.hasRoom()
            check(hasRoom == (bytes.count < capacity || end != nil), "room is told where there is some, and no other")
            isPaused = !hasRoom
        case .release: follow(account.release(), mustTell: isReading && !bytes.isEmpty)
        case .read:
            // One task reads, and waits for what it asked for.
            guard !isReading else { return }
            isReading = true
            follow(account.read(), mustTell: !bytes.isEmpty || end != nil)
        case .complete: finish(.success(()), "complete")
        case .fail: finish(.failure(NetworkError(.badResponse)), "failed")
        case .failDropping: finish(.failure(NetworkError(.badResponse)), "failed", dropping: true)
        case .abandon:
            let isFirst = end == nil
            if told == nil { drop("cancelled") }
            let step = account.abandon()
            check((step == .late) != isFirst, "giving up is late after the end")
            follow(step, mustTell: isReading)
        }
        check(account.waiting == bytes.count, "all bytes count that wait")
        check(account.isPaused == isPaused, "the producer pauses until it is resumed")
        check(!isPaused || (bytes.count >= capacity && end == nil && !isReading), "there is no pause with room")
        check(!isReading || (bytes.count < batch && end == nil), "no reader waits for what is there")
        check(isForced || bytes.count <= capacity + 2, "at most a piece goes beyond the capacity")
        check(!hasDropped || end != nil, "nothing is dropped before the end")
        check(hasDropped || taken + bytes == Array(0..<given), "no byte is lost")
        check(taken == Array(0..<taken.count), "no byte comes twice")
    }

    /// The body ends, and its reader reads on to the end.
    func finished() -> Owner {
        var owner = self
        owner.apply(.complete)
        for _ in 0..<3 { owner.apply(.read) }
        owner.check(owner.told != nil && !owner.isReading, "the reader is notified of the end")
        owner.check(owner.hasDropped || owner.taken.count == owner.given, "the reader gets all bytes")
        return owner
    }

    private mutating func bring(_ count: Int, isForced: Bool = false) {
        let step = account.arrive(count, isForced: isForced)
        check((step == .late) == (end != nil), "bytes are late after the end")
        let mustWait = end == nil && !isForced && bytes.count >= capacity
        check((step == .pause) == mustWait, "bytes are refused where there is no room")
        if mustWait { isPaused = true }
        if step == .late || step == .pause { return }
        if isForced { self.isForced = true }
        bytes += given..<(given + count)
        given += count
        let isDue = isReading && bytes.count < batch
        check((step == .due) == isDue, "less than a batch is due")
        follow(step, mustTell: isReading && !isDue)
    }

    private mutating func finish(_ result: Result<Void, NetworkError>, _ name: String, dropping: Bool = false) {
        let isFirst = end == nil
        let step = account.finish(result, droppingRemainder: dropping)
        check((step == .late) != isFirst, "an end is late after another")
        guard isFirst else { return }
        if dropping { drop(name) }
        (end, isPaused) = (name, false)
        follow(step, mustTell: isReading)
    }

    private mutating func drop(_ name: String) {
        hasDropped = hasDropped || !bytes.isEmpty
        bytes = []
        (end, isPaused) = (name, false)
    }

    /// What an owner does with a step.
    private mutating func follow(_ step: BodyAccount.Step, mustTell: Bool) {
        let tells = step == .deliver || step == .deliverAndResume || step == .end
        check(tells == mustTell && (!tells || isReading), "a reader is told exactly once")
        check((step == .deliverAndResume) == (tells && isPaused), "a read resumes the producer that pauses")
        guard tells else { return }
        isReading = false
        isPaused = false
        guard step == .end else {
            check(!bytes.isEmpty, "a chunk has bytes")
            taken += bytes
            bytes = []
            return
        }
        check(bytes.isEmpty, "the end comes after the bytes")
        let name = account.end.map(Self.name)
        check(name == end && (told == nil || told == name), "the first end counts")
        told = name
    }

    static func name(_ end: Result<Void, NetworkError>) -> String {
        switch end {
        case .success: "complete"
        case .failure(let error): error.isCancelled ? "cancelled" : "failed"
        }
    }

    /// The first problem counts.
    private mutating func check(_ isRight: Bool, _ rule: String) {
        if !isRight, problem == nil { problem = "against the rule that \(rule): \(self)" }
    }
}
