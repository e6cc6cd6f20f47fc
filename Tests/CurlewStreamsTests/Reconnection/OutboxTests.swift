// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewStreams

@Suite("The outbox of a WebSocket that connects again", .timeLimit(.minutes(1)))
struct OutboxTests {
    private func outbox(_ texts: [String], messages: Int = 10, bytes: Int = 1000) -> Outbox {
        var box = Outbox(messages: messages, bytes: bytes)
        for text in texts { box.add(.text(text)) }
        return box
    }

    private func take(_ box: inout Outbox) throws -> Outbox.Item {
        let item = box.take()
        return try #require(item)
    }

    @Test("A pong acknowledges only what the transport had accepted before the ping")
    func marks() throws {
        var box = outbox(["a", "b", "c"])
        let a = try take(&box)
        #expect(!box.isUnproven, "The transport has not accepted it.")
        box.accept(a)
        #expect(box.isUnproven)
        let mark = box.mark
        let b = try take(&box)
        box.accept(b)
        box.acknowledge(before: mark)
        #expect(box.unacknowledged.map(\.message) == [.text("b")])
        #expect(box.isUnproven)
        box.acknowledge(before: box.mark)
        #expect(!box.isUnproven && box.count == 1)
    }

    @Test("A mark of a lost connection acknowledges nothing on the next one")
    func marksEnd() throws {
        var box = outbox(["a"])
        box.accept(try take(&box))
        let lost = box.lose(resending: [0])
        #expect(lost.isEmpty)
        #expect(box.mark == 0)
        let again = try take(&box)
        #expect(again.mayHaveArrived)
        box.acknowledge(before: box.mark)
        #expect(box.count == 1)
    }

    @Test("Messages that are sent again come first, in order; the others are handed back")
    func resending() throws {
        var box = outbox(["a", "b", "c", "d"])
        for _ in 0..<3 { box.accept(try take(&box)) }
        let lost = box.lose(resending: [0, 2])
        #expect(lost == [.text("b")])
        box.add(.text("e"))
        #expect(box.unacknowledged.map(\.message) == [.text("a"), .text("c")])
        var rest = box
        let unsent = rest.takeUnsent()
        #expect(unsent == [.text("d"), .text("e")])
        #expect(rest.count == 2)
        var order: [WebSocketMessage] = []
        while let item = box.take() { order.append(item.message) }
        #expect(order == ["a", "c", "d", "e"].map { .text($0) })
        let all = box.removeAll()
        #expect(all.unacknowledged == order && all.unsent.isEmpty && box.isEmpty)
    }

    @Test("The room is limited in messages and in bytes, and acknowledgement frees it")
    func room() throws {
        var box = outbox(["a", "b"], messages: 2)
        #expect(!box.hasRoom)
        box.accept(try take(&box))
        #expect(!box.hasRoom && box.isHalfFull)
        box.acknowledge([0])
        #expect(box.hasRoom && !box.isHalfFull)
        box = outbox(["12345"], bytes: 5)
        #expect(!box.hasRoom)
        let unsent = box.takeUnsent()
        #expect(unsent.count == 1 && box.hasRoom)
    }

    @Test("The queue is an array with removal at both ends", arguments: [UInt64(1), 2, 3])
    func queue(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (queue, model) = (Queue<Int>(), [Int]())
        for step in 0..<5000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                queue.append(step)
                model.append(step)
            case 5..<8:
                let (first, expected) = (queue.popFirst(), model.isEmpty ? nil : model.removeFirst())
                #expect(first == expected, "seed \(seed)")
            case 8:
                queue.prepend([step, -step])
                model = [step, -step] + model
            default:
                let removed = queue.removeAll { $0 % 5 == 0 }
                #expect(removed == model.filter { $0 % 5 == 0 }, "seed \(seed)")
                model.removeAll { $0 % 5 == 0 }
            }
            #expect(queue.count == model.count && queue.first == model.first, "seed \(seed)")
        }
        #expect(queue.elements == model, "seed \(seed)")
    }
}
