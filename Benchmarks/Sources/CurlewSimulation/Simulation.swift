// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
@_spi(Simulation) import CurlewResilience
import CurlewStandard
import CurlewTesting
import Foundation

/// Many clients and one server in virtual time. The same seed gives the same run.
struct Simulation {
    var clients: Int
    /// Calls that a client makes in a second, on average.
    var rate = 1.0
    /// How long an attempt waits for its response.
    var patience: Duration = .seconds(2)
    /// How long a call may take over its attempts and waits.
    var total: Duration = .seconds(30)
    var strategy: Strategy
    var server: Server
    /// How long calls are made.
    var length: Duration
    var seed: UInt64 = 1

    /// A call in progress.
    private struct Call {
        let client: Int
        let start: Int64
        var situation: RetryPolicy.Situation
        var sentAt: Int64 = 0
        var permit: CircuitState.Permit?
        var receipt: RetryBudget.Receipt?
    }

    /// One client: what the library keeps for it.
    private struct Client {
        var budget: RetryBudget?
        var circuit: CircuitState?
    }

    private static let origin = Origin(scheme: "https", host: "api.example.com")
    // A clock that stands still gives instants that do not depend on when the program runs.
    private static let zero = ManualClock().now
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    func run() -> Traffic {
        guard let origin = Self.origin else { return Traffic() }
        var (chance, server, queue, traffic) = (Chance(seed: seed), server, EventQueue(), Traffic())
        var people = (0..<clients).map { _ in
            Client(
                budget: strategy.hasBudget ? RetryBudget() : nil,
                circuit: strategy.circuit.map { CircuitState($0) })
        }
        var (calls, free): ([Call], [Int]) = ([], [])
        let (end, patience) = (length.nanoseconds, patience.nanoseconds)
        let pace = Double(clients) * rate

        /// The end of one attempt: what the library decides about it.
        func conclude(_ slot: Int, _ outcome: Attempt.Outcome, _ now: Int64) {
            var call = calls[slot]
            let budget = people[call.client].budget
            if case .status(let status) = outcome, status.isSuccess {
                call.receipt.map { $0.succeeded() } ?? budget?.deposit(for: origin)
                traffic.good(at: now)
                free.append(slot)
                return
            }
            let elapsed = now - call.start
            call.situation.elapsed = .nanoseconds(elapsed)
            call.situation.remaining = total - .nanoseconds(elapsed)
            call.situation.random = strategy.hasJitter ? chance.unit() : 1
            func giveUp() {
                traffic.failed(at: now)
                free.append(slot)
            }
            guard case .retry(let wait, _) = strategy.retry.decide(outcome, in: call.situation) else { return giveUp() }
            if let budget {
                guard let receipt = budget.withdraw(for: origin, afterTimeout: outcome.isTimeout) else {
                    return giveUp()
                }
                call.receipt = receipt
            }
            call.situation.attempts += 1
            call.situation.previousWait = wait
            calls[slot] = call
            queue.add(.send(slot), at: now + wait.nanoseconds)
        }

        queue.add(.arrival, at: chance.gap(rate: pace))
        while let event = queue.next() {
            let now = event.time
            switch event.kind {
            case .arrival:
                let client = Int.random(in: 0..<clients, using: &chance)
                let call = Call(
                    client: client, start: now, situation: RetryPolicy.Situation(date: Self.date, random: 0))
                let slot: Int
                if let used = free.popLast() {
                    calls[used] = call
                    slot = used
                } else {
                    calls.append(call)
                    slot = calls.count - 1
                }
                traffic.called(at: now)
                queue.add(.send(slot), at: now)
                let next = now + chance.gap(rate: pace)
                if next < end { queue.add(.arrival, at: next) }
            case .send(let slot):
                let client = calls[slot].client
                let admission = people[client].circuit?.admit(at: Self.zero.advanced(by: .nanoseconds(now)))
                switch admission {
                case .refuse: conclude(slot, .failed(.refused(by: .circuitBreaker)), now)
                case .pass(let permit): calls[slot].permit = permit
                case nil: break
                }
                if case .refuse = admission { continue }
                calls[slot].sentAt = now
                traffic.sent(at: now)
                let (answer, time) = server.receive(at: now, patience: patience, &chance)
                queue.add(.outcome(slot, answer), at: time)
            case .outcome(let slot, let answer):
                let call = calls[slot]
                if let permit = call.permit {
                    people[call.client].circuit?.finish(
                        permit, answer.verdict(after: .nanoseconds(now - call.sentAt)),
                        at: Self.zero.advanced(by: .nanoseconds(now)), using: &chance)
                }
                conclude(slot, answer.outcome, now)
            }
        }
        return traffic
    }
}

extension Answer {
    /// As the retry policy sees it.
    fileprivate var outcome: Attempt.Outcome {
        switch self {
        case .good: .status(.ok)
        case .status(let code): .status(HTTPStatus(code))
        case .unreachable: .failed(.unreachable)
        case .timedOut: .failed(.timedOut(.attempt))
        }
    }

    /// As the breaker sees it.
    fileprivate func verdict(after time: Duration) -> CircuitState.Outcome {
        switch self {
        case .good, .status(..<500): .success(time)
        case .status, .unreachable, .timedOut: .failure
        }
    }
}

extension Attempt.Outcome {
    /// As the budget sees it.
    fileprivate var isTimeout: Bool {
        if case .failed(.timedOut) = self { true } else { false }
    }
}

extension Duration {
    var nanoseconds: Int64 {
        let parts = components
        return parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    }
}
