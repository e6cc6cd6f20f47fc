// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// A client of one server in virtual time: calls come at random, wait for a slot, and then in the server's own line.
private struct ServerRun {
    /// What the server does at a time, and how long each takes.
    var capacity = 10
    var service = Duration.milliseconds(100)
    /// Calls in a second, and how long each may take.
    var rate = 200.0
    var patience = Duration.seconds(1)
    var length = Duration.seconds(60)
    var capacityLater: (at: Duration, capacity: Int)?

    var succeeded = 0
    var shed = 0
    var late = 0
    var most = 0

    private enum Event { case arrival, done(Int), patienceEnds(Int) }

    private struct Call {
        let deadline: MonotonicInstant
        var ticket: UInt64?
        var sent: MonotonicInstant?
        var isOver = false
    }

    mutating func run(_ line: inout ConcurrencyQueue<Int>, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let zero = MonotonicInstant(nanoseconds: 0)
        var (calls, now, order): ([Call], MonotonicInstant, UInt64) = ([], zero, 0)
        var events: [(at: MonotonicInstant, order: UInt64, event: Event)] = []
        var (free, served): ([MonotonicInstant], Int) = (Array(repeating: zero, count: capacity), capacity)
        func at(_ time: MonotonicInstant, _ event: Event) {
            order += 1
            // Kept in order from the back: the last one is the next.
            var (low, high) = (0, events.count)
            while low < high {
                let middle = (low + high) / 2
                if (events[middle].at, events[middle].order) < (time, order) { high = middle } else { low = middle + 1 }
            }
            events.insert((time, order, event), at: low)
        }
        func send(_ number: Int) {
            calls[number].ticket = nil
            calls[number].sent = now
            // The server's line: first come, first served; it does not know who has dropped.
            let permit = free.indices.min { free[$0] < free[$1] } ?? 0
            free[permit] = max(free[permit], now).advanced(by: service)
            at(free[permit], .done(number))
        }
        func finish(_ number: Int, _ outcome: ConcurrencyOutcome) {
            guard let sent = calls[number].sent else { return }
            calls[number].isOver = true
            let (going, late) = line.finish(.init(sent: sent, outcome: outcome, now: now))
            for each in late {
                calls[each.waiter].isOver = true
                shed += 1
            }
            for waiter in going { send(waiter) }
        }
        at(zero, .arrival)
        while let (time, _, event) = events.popLast(), time < zero.advanced(by: length) {
            now = time
            if let later = capacityLater, zero.advanced(by: later.at) <= now, served != later.capacity {
                served = later.capacity
                free = Array(free.sorted().prefix(served))
                while free.count < served { free.append(now) }
            }
            most = max(most, line.permits)
            switch event {
            case .arrival:
                let number = calls.count
                calls.append(Call(deadline: now.advanced(by: patience)))
                at(calls[number].deadline, .patienceEnds(number))
                if line.acquire() {
                    send(number)
                } else {
                    calls[number].ticket = line.wait(number, until: Deadline(calls[number].deadline), .normal)
                    calls[number].isOver = calls[number].ticket == nil
                }
                at(now.advanced(by: .seconds(-log(1 - Double.random(in: 0..<1, using: &random)) / rate)), .arrival)
            case .done(let number):
                guard !calls[number].isOver, let sent = calls[number].sent else { continue }
                succeeded += 1
                finish(number, .responded(sent.duration(to: now)))
            case .patienceEnds(let number):
                guard !calls[number].isOver else { continue }
                late += 1
                if let ticket = calls[number].ticket {
                    calls[number].isOver = true
                    _ = line.leave(ticket)
                } else {
                    let took = calls[number].sent.map { $0.duration(to: now) } ?? .zero
                    finish(number, .gaveUp(took))
                }
            }
        }
    }

    var perSecond: Double { Double(succeeded) / (Double(length.wholeNanoseconds) / 1e9) }
}

@Suite(.timeLimit(.minutes(1)))
struct AdaptiveConcurrencyTests {
    static func line(_ permits: Int = 0, _ adaptive: ConcurrencyLimit.Adaptive? = nil) -> ConcurrencyQueue<Int> {
        ConcurrencyQueue(permits: permits, capacity: 1000, adaptive: adaptive)
    }

    @Test(
        "200 calls/s against ten permits of 100 ms: late calls make room, and the server stays useful",
        arguments: 0..<5 as Range<UInt64>)
    func shedding(seed: UInt64) {
        var run = ServerRun()
        var line = Self.line(10)
        run.run(&line, seed: seed)
        #expect(run.perSecond >= 90, "seed \(seed): \(run.perSecond) of 100/s, \(run.shed) shed, \(run.late) late")
        #expect(run.late < run.shed, "seed \(seed)")
    }

    @Test(
        "The limit settles near the capacity of the server, and the server stays busy", arguments: [4, 10, 40],
        0..<3 as Range<UInt64>)
    func settles(capacity: Int, seed: UInt64) {
        var run = ServerRun(capacity: capacity, rate: Double(capacity) * 20)
        var line = Self.line(0, .adaptive)
        run.run(&line, seed: seed)
        let expected = 1.5 * Double(capacity) + (2 * Double(capacity)).squareRoot()
        #expect(line.permits >= capacity || line.permits == 4, "seed \(seed): \(line.permits)")
        #expect(Double(line.permits) <= expected * 1.5 + 4, "seed \(seed): \(line.permits)")
        #expect(run.perSecond >= 8.5 * Double(capacity), "seed \(seed): \(run.perSecond) of \(capacity * 10)/s")
    }

    @Test("It follows a server that loses half of its capacity, and one that gets more", arguments: [(20, 5), (5, 20)])
    func follows(before: Int, after: Int) {
        var run = ServerRun(
            capacity: before, rate: 400, length: .seconds(180), capacityLater: (at: .seconds(60), capacity: after))
        var line = Self.line(0, .adaptive)
        run.run(&line, seed: 7)
        #expect(line.permits >= after / 2 && Double(line.permits) <= 2.5 * Double(after) + 8, "\(line.permits)")
        let expected = Double(before * 60 + after * 120) * 10 / 180
        #expect(run.perSecond >= 0.85 * expected, "\(run.perSecond) of \(expected)/s")
    }

    @Test("A fixed limit above the capacity and no shedding is what it is better than")
    func comparison() {
        var fixed = ServerRun(rate: 200)
        var wide = Self.line(200)
        fixed.run(&wide, seed: 1)
        var adaptive = ServerRun(rate: 200)
        var line = Self.line(0, .adaptive)
        adaptive.run(&line, seed: 1)
        #expect(adaptive.perSecond > fixed.perSecond * 1.5, "\(adaptive.perSecond) against \(fixed.perSecond)")
    }

    @Test(
        "The limit stays in its bounds whatever the times are, and does not grow unused",
        arguments: 0..<100 as Range<UInt64>)
    func bounds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rules = ConcurrencyLimit.Adaptive(initial: 10, least: 2, most: 50, probeInterval: .seconds(1))
        var estimate = ConcurrencyEstimate(rules)
        var now = MonotonicInstant(nanoseconds: 0)
        for _ in 0..<3000 {
            now = now.advanced(by: .milliseconds(Int.random(in: 0...20, using: &random)))
            let took = Duration.nanoseconds(
                Int64.random(in: 0...Int64.max / 2, using: &random) >> Int64.random(in: 0...60, using: &random))
            let outcomes: [ConcurrencyOutcome] = [
                .responded(took), .responded(took), .gaveUp(took), .overloaded, .unknown,
            ]
            estimate.add(
                sent: now, outcomes.randomElement(using: &random) ?? .unknown,
                running: Int.random(in: 1...60, using: &random), at: now)
            #expect((2...50).contains(estimate.permits), "seed \(seed)")
        }
        var idle = ConcurrencyEstimate(rules)
        for _ in 0..<1000 { idle.add(sent: now, .responded(.milliseconds(5)), running: 1, at: now) }
        #expect(idle.permits == 10, "seed \(seed)")
    }

    @Test("Times without end stay in the range of the clock")
    func endless() {
        var usual = UsualTime()
        for _ in 0..<200 { usual.add(.nanoseconds(Int64.max)) }
        #expect(usual.time == .nanoseconds(Int64.max))
    }

    @Test("Bounds as far as numbers go end nothing")
    func endlessBounds() {
        var estimate = ConcurrencyEstimate(ConcurrencyLimit.Adaptive(initial: .max, least: 1, most: .max))
        let now = MonotonicInstant(nanoseconds: 0)
        for _ in 0..<8 { estimate.add(sent: now, .responded(.milliseconds(5)), running: 1, at: now) }
        #expect(estimate.permits == Int.max)
        for _ in 0..<100 { estimate.add(sent: now, .overloaded, running: 1, at: now) }
        #expect(estimate.permits > 1 && estimate.permits < Int.max)
        let wide = ConcurrencyEstimate(ConcurrencyLimit.Adaptive(initial: .max, least: .max, most: .max))
        #expect(wide.permits(responded: 1) == Int.max)
    }

    @Test("Overload shrinks it by a tenth for each window")
    func overload() {
        var estimate = ConcurrencyEstimate(ConcurrencyLimit.Adaptive(initial: 100, most: 100))
        let now = MonotonicInstant(nanoseconds: 0)
        for _ in 0..<8 { estimate.add(sent: now, .responded(.milliseconds(5)), running: 100, at: now) }
        for _ in 0..<100 { estimate.add(sent: now, .overloaded, running: 100, at: now) }
        #expect(estimate.permits == 90)
        #expect(ConcurrencyOutcome(.status(503), after: .seconds(1)) == .overloaded)
        #expect(ConcurrencyOutcome(.status(500), after: .seconds(1)) == .responded(.seconds(1)))
        for (reason, outcome) in [
            (NetworkError.Reason.timedOut(.firstByte), ConcurrencyOutcome.overloaded), (.timedOut(.queue), .unknown),
            (.cancelled, .unknown), (.connectionLost(.requestMayHaveArrived), .overloaded), (.unreachable, .unknown),
            (.timedOut(.total), .gaveUp(.seconds(1))), (.timedOut(.attempt), .gaveUp(.seconds(1))),
        ] {
            #expect(ConcurrencyOutcome(NetworkError(reason), after: .seconds(1)) == outcome, "\(reason)")
        }
    }

    @Test("Rules that cannot work are a problem; the pipeline shows the bounds")
    func problems() {
        let bad = [
            ConcurrencyLimit.Adaptive(least: 0), ConcurrencyLimit.Adaptive(initial: 2),
            ConcurrencyLimit.Adaptive(most: 10),
            ConcurrencyLimit.Adaptive(tolerance: 0.9), ConcurrencyLimit.Adaptive(tolerance: .nan),
            ConcurrencyLimit.Adaptive(probeInterval: .zero),
        ]
        for rules in bad { #expect(Pipeline([.concurrencyLimit(rules)]).problems().count == 1, "\(rules)") }
        let pipeline: Pipeline = [.concurrencyLimit(.adaptive)]
        #expect(pipeline.problems().isEmpty)
        #expect(pipeline.description == "ConcurrencyLimit(4…200 per origin) → transport")
    }
}
