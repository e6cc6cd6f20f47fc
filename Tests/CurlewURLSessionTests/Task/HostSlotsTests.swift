// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

@Suite(.timeLimit(.minutes(1)))
struct HostSlotsTests {
    private final class Exchange: Sendable {}

    private let slots = HostSlots(perHost: 2, waitingPerHost: 3)
    private let started = Locked<[Int]>([])
    private let exchanges = (0..<6).map { _ in Exchange() }

    @discardableResult
    private func enter(_ index: Int, _ origin: Origin, _ priority: RequestOptions.Priority? = nil) -> Bool {
        slots.requestSlot(for: exchanges[index], origin: origin, priority) { [started] in
            started.withLock { $0.append(index) }
        }
    }

    @Test("An origin has a number of slots; others wait, and start in their order")
    func order() throws {
        let origin = try #require(Origin(scheme: "http", host: "a.test"))
        for index in 0..<5 { enter(index, origin) }
        #expect(started.withLock { $0 } == [0, 1])
        #expect(slots.counts == (2, 3))
        slots.releaseSlot(of: exchanges[1])
        #expect(started.withLock { $0 } == [0, 1, 2])
        slots.releaseSlot(of: exchanges[0])
        slots.releaseSlot(of: exchanges[2])
        #expect(started.withLock { $0 } == [0, 1, 2, 3, 4])
        slots.releaseSlot(of: exchanges[3])
        slots.releaseSlot(of: exchanges[4])
        #expect(slots.counts == (0, 0))
        enter(5, origin)
        #expect(started.withLock { $0.last } == 5)
    }

    @Test("Origins do not wait for each other")
    func origins() throws {
        for index in 0..<3 { enter(index, try #require(Origin(scheme: "http", host: "a.test"))) }
        enter(3, try #require(Origin(scheme: "http", host: "a.test", port: 81)))
        #expect(started.withLock { $0 } == [0, 1, 3])
    }

    @Test("A higher priority starts first")
    func priority() throws {
        let origin = try #require(Origin(scheme: "http", host: "a.test"))
        for index in 0..<3 { enter(index, origin) }
        enter(3, origin, .high)
        slots.releaseSlot(of: exchanges[0])
        #expect(started.withLock { $0 } == [0, 1, 3])
    }

    @Test("A cancelled waiter is not started, and only waiters can be cancelled")
    func abandon() throws {
        let origin = try #require(Origin(scheme: "http", host: "a.test"))
        for index in 0..<4 { enter(index, origin) }
        #expect(slots.abandon(exchanges[2]))
        #expect(!slots.abandon(exchanges[2]))
        #expect(!slots.abandon(exchanges[0]))
        #expect(!slots.abandon(exchanges[5]))
        slots.releaseSlot(of: exchanges[0])
        #expect(started.withLock { $0 } == [0, 1, 3])
    }

    @Test("Leaving twice, or without a slot, frees nothing")
    func strangers() throws {
        let origin = try #require(Origin(scheme: "http", host: "a.test"))
        for index in 0..<4 { enter(index, origin) }
        slots.releaseSlot(of: exchanges[3])
        slots.releaseSlot(of: exchanges[5])
        #expect(slots.counts == (2, 2))
        slots.releaseSlot(of: exchanges[0])
        slots.releaseSlot(of: exchanges[0])
        #expect(started.withLock { $0 } == [0, 1, 2])
        #expect(slots.counts == (2, 1))
    }

    @Test("Beyond the queue's length waiters are refused, and accepted when one has left")
    func overload() throws {
        let origin = try #require(Origin(scheme: "http", host: "a.test"))
        let areIn = (0..<6).map { enter($0, origin) }
        #expect(areIn == [true, true, true, true, true, false])
        #expect(slots.counts == (2, 3))
        #expect(!slots.abandon(exchanges[5]))
        slots.releaseSlot(of: exchanges[5])
        #expect(slots.counts == (2, 3) && started.withLock { $0 } == [0, 1])
        slots.releaseSlot(of: exchanges[0])
        #expect(enter(5, origin))
    }
}
