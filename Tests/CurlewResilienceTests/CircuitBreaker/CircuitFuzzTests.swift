// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// Random lives of a circuit against a model that remembers everything.
@Suite(.timeLimit(.minutes(1)))
struct CircuitFuzzTests {
    private struct Call {
        let permit: CircuitState.Permit
        /// Which period between two changes of phase it began in.
        let period: Int
        let began: SystemTime.Instant
    }

    @Test(
        "The circuit opens when the model does, has one trial at a time, and never wedges",
        arguments: 0..<200 as Range<UInt64>)
    func life(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let policy = CircuitBreaker.Policy(
            failureRatio: [0.1, 0.5, 1].randomElement(using: &random) ?? 1,
            minimumCalls: Int.random(in: 1...12, using: &random), window: .seconds(10), openTime: .seconds(9))
        var circuit = CircuitState(policy)
        var now = SystemTime.Instant(nanoseconds: Int64.random(in: -(1 << 40)...(1 << 40), using: &random))
        var (calls, ended): ([Call], [(at: SystemTime.Instant, failed: Bool)]) = ([], [])
        var (period, opened, trials) = (0, 0, 0)
        var health = Double.random(in: 0...1, using: &random)
        func check(_ isRight: Bool, _ what: String) { #expect(isRight, "seed \(seed): \(what)") }

        for step in 0..<1500 {
            let former = circuit.phase
            switch Int.random(in: 0..<9, using: &random) {
            case 0..<5:
                let wait = circuit.refusal(at: now)
                if let permit = circuit.admit(at: now) {
                    check(wait == nil, "passed a refused call")
                    if permit.isTrial {
                        trials += 1
                        let alive = calls.filter { $0.permit.isTrial && $0.period == period }
                        check(alive.allSatisfy { $0.began.duration(to: now) >= CircuitState.trialTime }, "two trials")
                        if circuit.phase != former { period += 1 }
                    } else {
                        check(circuit.phase == .closed, "a call passed in \(circuit.phase)")
                    }
                    calls.append(Call(permit: permit, period: period, began: now))
                } else {
                    check(circuit.phase != .closed, "a closed circuit refused")
                    check(wait.map { $0 > .zero && $0 <= .seconds(9) } ?? false, "refused for \(wait?.brief ?? "-")")
                }
            case 5..<8:
                guard let index = calls.indices.randomElement(using: &random) else { continue }
                let call = calls.remove(at: index)
                let outcome: CircuitState.Outcome =
                    switch Double.random(in: 0...1, using: &random) {
                    case ..<0.1: .unknown
                    case ..<health: .success
                    default: .failure
                    }
                circuit.finish(call.permit, outcome, at: now, random: .random(in: 0..<1, using: &random))
                let mayCount = call.period == period && outcome != .unknown
                if call.permit.isTrial {
                    check(circuit.phase == former || mayCount, "a late or lost trial moved it")
                } else if former == .closed, mayCount {
                    ended.append((now, outcome == .failure))
                    // The window forgets in tenths: what is certainly inside, and what may be.
                    let inside = ended.filter { $0.at.duration(to: now) < .seconds(9) }
                    let maybe = ended.filter { $0.at.duration(to: now) < .seconds(10) }
                    let isOpen = circuit.phase != .closed
                    if inside.count == maybe.count { check(isOpen == Self.opens(inside, policy), "step \(step)") }
                } else {
                    check(circuit.phase == former, "a late outcome moved it")
                }
            default:
                now = now.advanced(by: .milliseconds(Int.random(in: 0...1500, using: &random)))
                if Int.random(in: 0..<20, using: &random) == 0 { health = .random(in: 0...1, using: &random) }
            }
            if circuit.phase != former, !(former != .halfOpen && circuit.phase == .halfOpen) {
                period += 1
                ended = []
                if case .open = circuit.phase { opened += 1 }
            }
        }
        // A server that is well gets its calls back, whatever was before.
        now = now.advanced(by: .seconds(60))
        if let permit = circuit.admit(at: now) { circuit.finish(permit, .success, at: now, random: 0) }
        check(circuit.admit(at: now) != nil, "wedged in \(circuit.phase)")
        check(policy.failureRatio == 1 || opened > 0 || trials == 0, "the life was too quiet to say anything")
    }

    private static func opens(_ ended: [(at: SystemTime.Instant, failed: Bool)], _ policy: CircuitBreaker.Policy)
        -> Bool
    {
        let failed = ended.count { $0.failed }
        return ended.count >= policy.minimumCalls && Double(failed) >= policy.failureRatio * Double(ended.count)
    }
}
