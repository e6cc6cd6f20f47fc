// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewResilience

/// Who begins next.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyQueueTests {
    @Test("Every eighth permit goes to the call that has waited longest")
    func fairness() {
        var line = ConcurrencyQueue<String>(permits: 1, capacity: 1000)
        while line.acquire() {}
        let urgent = Array(repeating: ("h", RequestOptions.Priority.high), count: 20)
        for (name, priority) in [("x", .low), ("y", .normal)] + urgent { _ = line.wait(name, priority) }
        let order = (0..<22).map { _ in line.finish() ?? "" }.joined()
        #expect(order == "hhhhhhhxhhhhhhhyhhhhhh")
    }

    @Test("Any order of arrivals, departures and turns serves every call once", arguments: 0..<8 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = ConcurrencyQueue<Int>(permits: 4, capacity: 200)
        var (waiting, served, left): ([Int: UInt64], Set<Int>, Int) = ([:], [], 0)
        var isRight = true
        for number in 0..<2000 {
            switch random.next() % 4 {
            case 0, 1:
                if line.acquire() {
                    served.insert(number)
                } else if let ticket = line.wait(
                    number, RequestOptions.Priority(rawValue: Int(random.next() % 3)) ?? .normal)
                {
                    waiting[number] = ticket
                }
            case 2:
                guard line.running > 0 else { continue }
                guard let next = line.finish() else { continue }
                if !served.insert(next).inserted || waiting.removeValue(forKey: next) == nil { isRight = false }
            default:
                guard let (number, ticket) = waiting.randomElement(using: &random) else { continue }
                waiting[number] = nil
                left += 1
                if !line.leave(ticket) { isRight = false }
            }
            if line.waiting != waiting.count || line.running > 4 { isRight = false }
            if line.running < 4, line.waiting > 0 { isRight = false }
        }
        #expect(isRight && !served.isEmpty && left > 0, "seed \(seed)")
    }
}
