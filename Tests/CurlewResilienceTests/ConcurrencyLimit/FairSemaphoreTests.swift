// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewResilience
import CurlewTesting
import Testing

/// Who begins next.
@Suite(.timeLimit(.minutes(1)))
struct FairSemaphoreTests {
    private func line(capacity: Int = 1000, waiting: [(String, RequestOptions.Priority)]) -> FairSemaphore<String> {
        var line = FairSemaphore<String>(permits: 1, capacity: capacity)
        while line.acquire() {}
        for (name, priority) in waiting { _ = line.wait(name, priority) }
        #expect(line.count == waiting.count)
        return line
    }

    /// Those that get a permit when one is released after the other.
    private func order(_ line: FairSemaphore<String>) -> String {
        var (line, order) = (line, "")
        for _ in 0..<line.count {
            line.finish()
            order += line.next() ?? "-"
        }
        return order
    }

    @Test("the number of permits is as specified, and no element passes the waiting ones")
    func permits() {
        var line = FairSemaphore<String>(permits: 3, capacity: 10)
        let entries = [line.acquire(), line.acquire(), line.acquire(), line.acquire()]
        #expect(entries == [true, true, true, false])
        var turns: [String?] = []
        _ = line.wait("a", .normal)
        turns.append(line.next())
        line.finish()
        #expect(line.isDue)
        let passes = line.acquire()
        #expect(!passes)
        turns.append(line.next())
        #expect(turns == [nil, "a"])
        #expect(line.running == 3 && line.count == 0)
    }

    @Test("first come, first served, a higher priority first")
    func priorities() {
        let arrivals: [(String, RequestOptions.Priority)] = [
            ("l", .low), ("n", .normal), ("h", .high), ("m", .normal), ("i", .high), ("o", .low),
        ]
        #expect(order(line(waiting: arrivals)) == "hinmlo")
        #expect(order(line(waiting: "abcdefghijkl".map { (String($0), .normal) })) == "abcdefghijkl")
    }

    @Test("every eighth permit goes to the element that has waited longest")
    func fairness() {
        let urgent = Array(repeating: ("h", RequestOptions.Priority.high), count: 20)
        #expect(order(line(waiting: [("x", .low), ("y", .normal)] + urgent)) == "hhhhhhhxhhhhhhhyhhhhhh")
    }

    @Test("a full queue accepts no element, and accepts one again when another has left")
    func capacity() throws {
        var line = line(capacity: 2, waiting: [("a", .normal)])
        let tickets = [line.wait("b", .low), line.wait("c", .high)]
        #expect(tickets.last == .some(nil))
        let ticket = try #require(tickets[0])
        line.leave(ticket)
        line.leave(ticket)
        let next = line.wait("d", .high)
        #expect(next != nil)
        #expect(order(line) == "da")
    }

    @Test("any order of arrivals, departures and turns serves every element once", arguments: 0..<8 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = FairSemaphore<Int>(permits: 4, capacity: 200)
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
                if line.running > 0 { line.finish() }
                while let next = line.next() {
                    if !served.insert(next).inserted || waiting.removeValue(forKey: next) == nil { isRight = false }
                }
            default:
                guard let (number, ticket) = waiting.randomElement(using: &random) else { continue }
                waiting[number] = nil
                left += 1
                line.leave(ticket)
            }
            if line.count != waiting.count || line.running > 4 || line.isDue { isRight = false }
        }
        #expect(isRight, "seed \(seed)")
        #expect(Set(line.elements) == Set(waiting.keys) && !served.isEmpty && left > 0, "seed \(seed)")
    }
}
