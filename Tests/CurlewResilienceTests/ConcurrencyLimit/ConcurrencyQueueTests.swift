// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewResilience

/// Who begins next.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyQueueTests {
    @Test("Every eighth permit goes to the call that has waited longest")
    func fairness() {
        var queue = ConcurrencyQueue<String>(permits: 1, capacity: 1000)
        while queue.acquire() {}
        let urgent = Array(repeating: ("h", RequestOptions.Priority.high), count: 20)
        for (name, priority) in [("x", .low), ("y", .normal)] + urgent { _ = queue.wait(name, priority) }
        let order = (0..<22).map { _ in queue.finish() ?? "" }.joined()
        #expect(order == "hhhhhhhxhhhhhhhyhhhhhh")
    }

    @Test("Any order of arrivals, departures and turns serves every call once", arguments: 0..<8 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = ConcurrencyQueue<Int>(permits: 4, capacity: 200)
        var (waiting, served, left): ([Int: UInt64], Set<Int>, Int) = ([:], [], 0)
        var isRight = true
        for number in 0..<2000 {
            switch random.next() % 4 {
            case 0, 1:
                if queue.acquire() {
                    served.insert(number)
                } else if let ticket = queue.wait(
                    number, RequestOptions.Priority(rawValue: Int(random.next() % 3)) ?? .normal)
                {
                    waiting[number] = ticket
                }
            case 2:
                guard queue.running > 0 else { continue }
                guard let next = queue.finish() else { continue }
                if !served.insert(next).inserted || waiting.removeValue(forKey: next) == nil { isRight = false }
            default:
                guard let (number, ticket) = waiting.randomElement(using: &random) else { continue }
                waiting[number] = nil
                left += 1
                if !queue.leave(ticket) { isRight = false }
            }
            if queue.waiting != waiting.count || queue.running > 4 { isRight = false }
            if queue.running < 4, queue.waiting > 0 { isRight = false }
        }
        #expect(isRight && !served.isEmpty && left > 0, "seed \(seed)")
    }
}
