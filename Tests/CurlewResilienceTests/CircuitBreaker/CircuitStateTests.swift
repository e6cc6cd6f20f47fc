// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// The machine alone.
@Suite(.timeLimit(.minutes(1)))
struct CircuitStateTests {
    /// A circuit, a clock and chance.
    struct Bench {
        var circuit: CircuitState
        var now = SystemTime.Instant(nanoseconds: 1_000_000_000_000)
        var random = SeededGenerator(seed: 1)

        init(_ policy: CircuitBreaker.Policy = CircuitBreaker.Policy(minimumCalls: 4)) {
            circuit = CircuitState(policy)
        }

        mutating func admit() -> CircuitState.Permit? { circuit.admit(at: now) }

        mutating func finish(_ permit: CircuitState.Permit, _ outcome: CircuitState.Outcome) {
            circuit.finish(permit, outcome, at: now, random: .random(in: 0..<1, using: &random))
        }

        var isOpen: Bool {
            if case .open = circuit.phase { true } else { false }
        }

        /// Calls that end at once. Gives how many of them passed.
        @discardableResult
        mutating func call(_ outcomes: CircuitState.Outcome...) -> Int {
            outcomes.reduce(0) { count, outcome in
                guard let permit = admit() else { return count }
                finish(permit, outcome)
                return count + 1
            }
        }

        /// Moves the clock to the end of the open time and gives how long that was.
        mutating func waitUntilTrial() -> Duration? {
            guard case .open(let end) = circuit.phase else { return nil }
            let wait = now.duration(to: end)
            now = end
            return wait
        }
    }

    static let quick = CircuitState.Outcome.success

    @Test("The circuit opens at the ratio, not before the minimum of calls")
    func opening() {
        var bench = Bench()
        #expect(bench.call(.failure, .failure, .failure) == 3)
        #expect(bench.circuit.phase == .closed)
        #expect(bench.call(Self.quick, Self.quick, Self.quick) == 1)
        #expect(bench.isOpen)
        #expect(bench.circuit.cause == "3 of 4 calls failed in 30 s")
        var healthy = Bench()
        for _ in 0..<10 { healthy.call(Self.quick, .failure, Self.quick) }
        #expect(healthy.circuit.phase == .closed)
    }

    @Test("Outcomes older than the window are forgotten, in tenths")
    func window() {
        var bench = Bench()
        bench.call(.failure, .failure, .failure)
        bench.now = bench.now.advanced(by: .seconds(26))
        #expect(bench.circuit.window.counts(at: bench.now).failed == 3)
        bench.now = bench.now.advanced(by: .seconds(4))
        #expect(bench.circuit.window.counts(at: bench.now).calls == 0)
        bench.call(.failure)
        #expect(bench.circuit.phase == .closed)
    }

    @Test("An open circuit refuses and says how long; then one trial decides")
    func trial() {
        var bench = Bench()
        bench.call(.failure, .failure, .failure, .failure)
        guard case .open(let end) = bench.circuit.phase else {
            Issue.record("not open")
            return
        }
        #expect(bench.admit() == nil && bench.circuit.refusal(at: bench.now) == bench.now.duration(to: end))
        bench.now = SystemTime.Instant(nanoseconds: end.nanoseconds - 1)
        #expect(bench.admit() == nil)
        bench.now = end
        let trial = bench.admit()
        #expect(trial?.isTrial == true && bench.circuit.phase == .halfOpen)
        #expect(bench.admit() == nil)
        if let trial { bench.finish(trial, Self.quick) }
        #expect(bench.circuit.phase == .closed)
        #expect(bench.circuit.window.counts(at: bench.now).calls == 0)
        #expect(bench.call(.failure, .failure, .failure) == 3)
        #expect(bench.circuit.phase == .closed)
    }

    @Test("Each failed trial opens the circuit again, for between half of the open time and the whole")
    func openTimes() {
        var bench = Bench()
        bench.call(.failure, .failure, .failure, .failure)
        var waits: Set<Duration> = []
        for _ in 0..<7 {
            let wait = bench.waitUntilTrial() ?? .zero
            #expect(wait >= .seconds(2.5) && wait <= .seconds(5))
            waits.insert(wait)
            #expect(bench.call(.failure) == 1)
        }
        #expect(waits.count == 7, "each is drawn anew")
    }

    @Test("An open time as long as the clock goes ends nothing")
    func endlessOpenTime() {
        var bench = Bench(CircuitBreaker.Policy(minimumCalls: 4, openTime: .nanoseconds(Int64.max)))
        bench.call(.failure, .failure, .failure, .failure)
        #expect(bench.isOpen && bench.admit() == nil)
    }

    @Test("A trial that is cancelled makes room at once, one that never ends after its time")
    func lostTrial() {
        var bench = Bench()
        bench.call(.failure, .failure, .failure, .failure)
        _ = bench.waitUntilTrial()
        bench.call(.unknown)
        let first = bench.admit()
        #expect(first?.isTrial == true)
        #expect(bench.admit() == nil && bench.circuit.refusal(at: bench.now) == .seconds(1))
        bench.now = bench.now.advanced(by: .milliseconds(29_999))
        #expect(bench.admit() == nil && bench.circuit.refusal(at: bench.now) == .milliseconds(1))
        bench.now = bench.now.advanced(by: .milliseconds(1))
        let second = bench.admit()
        #expect(second?.isTrial == true && second != first)
        if let first { bench.finish(first, .failure) }
        #expect(bench.circuit.phase == .halfOpen, "the first comes too late")
        if let second { bench.finish(second, Self.quick) }
        #expect(bench.circuit.phase == .closed)
    }
}
