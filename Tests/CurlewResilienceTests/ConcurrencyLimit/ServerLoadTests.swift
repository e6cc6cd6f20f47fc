// SPDX-License-Identifier: MIT

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

    var succeeded = 0
    var shed = 0
    var late = 0

    private enum Event { case arrival, done(Int), patienceEnds(Int) }

    private struct Call {
        let deadline: SystemTime.Instant
        var ticket: UInt64?
        var sent: SystemTime.Instant?
        var isOver = false
    }

    mutating func run(_ line: inout ConcurrencyQueue<Int>, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let zero = SystemTime.Instant(nanoseconds: 0)
        var (calls, now, order): ([Call], SystemTime.Instant, UInt64) = ([], zero, 0)
        var events: [(at: SystemTime.Instant, order: UInt64, event: Event)] = []
        var free = Array(repeating: zero, count: capacity)
        func at(_ time: SystemTime.Instant, _ event: Event) {
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
            guard calls[number].sent != nil else { return }
            calls[number].isOver = true
            line.learn(outcome)
            let (going, late) = line.finish(at: now)
            for each in late {
                calls[each.waiter].isOver = true
                shed += 1
            }
            for waiter in going { send(waiter) }
        }
        at(zero, .arrival)
        while let (time, _, event) = events.popLast(), time < zero.advanced(by: length) {
            now = time
            switch event {
            case .arrival:
                let number = calls.count
                calls.append(Call(deadline: now.advanced(by: patience)))
                at(calls[number].deadline, .patienceEnds(number))
                if line.acquire() {
                    send(number)
                } else {
                    calls[number].ticket = line.wait(
                        number, until: SystemTime.Deadline(calls[number].deadline), .normal)
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

/// What a limit does for a server that gets more calls than it can serve.
@Suite(.timeLimit(.minutes(1)))
struct ServerLoadTests {
    static func line(_ permits: Int) -> ConcurrencyQueue<Int> { ConcurrencyQueue(permits: permits, capacity: 1000) }

    @Test(
        "200 calls/s against ten permits of 100 ms: late calls leave, the server stays useful",
        arguments: 0..<5 as Range<UInt64>)
    func shedding(seed: UInt64) {
        var run = ServerRun()
        var line = Self.line(10)
        run.run(&line, seed: seed)
        #expect(run.perSecond >= 90, "seed \(seed): \(run.perSecond) of 100/s, \(run.shed) shed, \(run.late) late")
        #expect(run.late < run.shed, "seed \(seed)")
    }

    @Test("Times without end stay in the range of the clock")
    func endless() {
        var usual = UsualTime()
        for _ in 0..<200 { usual.add(.nanoseconds(Int64.max)) }
        #expect(usual.time == .nanoseconds(Int64.max))
    }

    @Test("Responses and timeouts tell how long a typical call takes, refusals do not")
    func outcomes() {
        for (status, outcome) in [
            (HTTPStatus.ok, ConcurrencyOutcome.responded(.seconds(1))), (500, .responded(.seconds(1))),
            (503, .unknown), (429, .unknown),
        ] {
            #expect(ConcurrencyOutcome(.status(status), after: .seconds(1)) == outcome, "\(status)")
        }
        for (reason, outcome) in [
            (NetworkError.Reason.timedOut(.firstByte), ConcurrencyOutcome.unknown), (.timedOut(.queue), .unknown),
            (.cancelled, .unknown), (.connectionLost(.requestMayHaveArrived), .unknown), (.unreachable, .unknown),
            (.timedOut(.total), .gaveUp(.seconds(1))), (.timedOut(.attempt), .gaveUp(.seconds(1))),
        ] {
            #expect(ConcurrencyOutcome(NetworkError(reason), after: .seconds(1)) == outcome, "\(reason)")
        }
    }
}
