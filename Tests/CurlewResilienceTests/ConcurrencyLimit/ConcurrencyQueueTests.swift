// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewResilience

/// Who begins next.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyQueueTests {
    private func line(capacity: Int = 1000, waiting: [(String, RequestOptions.Priority)]) -> ConcurrencyQueue<String> {
        var line = ConcurrencyQueue<String>(permits: 1, capacity: capacity)
        while line.acquire() {}
        for (name, priority) in waiting { _ = line.wait(name, until: .never, priority) }
        #expect(line.waiting == waiting.count)
        return line
    }

    /// Those that get a permit when one is released after the other.
    private func order(_ line: ConcurrencyQueue<String>) -> String {
        var line = line
        return (0..<line.waiting).map { _ in line.finish(at: nil).going.joined() }.joined()
    }

    @Test("The number of permits is as specified, and no call passes the waiting ones")
    func permits() {
        var line = ConcurrencyQueue<String>(permits: 3, capacity: 10)
        #expect((0..<4).map { _ in line.acquire() } == [true, true, true, false])
        for name in ["a", "b"] { _ = line.wait(name, until: .never, .normal) }
        #expect(line.finish(at: nil).going == ["a"])
        #expect(line.running == 3 && line.waiting == 1 && !line.acquire())
    }

    @Test("Calls are served in order of arrival, a higher priority first")
    func priorities() {
        let arrivals: [(String, RequestOptions.Priority)] = [
            ("l", .low), ("n", .normal), ("h", .high), ("m", .normal), ("i", .high), ("o", .low),
        ]
        #expect(order(line(waiting: arrivals)) == "hinmlo")
        #expect(order(line(waiting: "abcdefghijkl".map { (String($0), .normal) })) == "abcdefghijkl")
    }

    @Test("Every eighth permit goes to the call that has waited longest")
    func fairness() {
        let urgent = Array(repeating: ("h", RequestOptions.Priority.high), count: 20)
        #expect(order(line(waiting: [("x", .low), ("y", .normal)] + urgent)) == "hhhhhhhxhhhhhhhyhhhhhh")
    }

    @Test("A full queue accepts no call, and accepts one again when another has left")
    func capacity() throws {
        var line = line(capacity: 2, waiting: [("a", .normal)])
        let tickets = [line.wait("b", until: .never, .low), line.wait("c", until: .never, .high)]
        #expect(tickets.last == .some(nil))
        let ticket = try #require(tickets[0])
        #expect([line.leave(ticket), line.leave(ticket)] == [true, false])
        #expect(line.wait("d", until: .never, .high) != nil)
        #expect(order(line) == "da")
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
                    number, until: .never, RequestOptions.Priority(rawValue: Int(random.next() % 3)) ?? .normal)
                {
                    waiting[number] = ticket
                }
            case 2:
                guard line.running > 0 else { continue }
                for next in line.finish(at: nil).going {
                    if !served.insert(next).inserted || waiting.removeValue(forKey: next) == nil { isRight = false }
                }
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
