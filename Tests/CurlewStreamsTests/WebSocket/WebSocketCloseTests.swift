// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// The rules of RFC 6455 §5.5.1 and §7 about the end of a connection.
@Suite(.timeLimit(.minutes(1)))
struct WebSocketCloseTests {
    @Test("§5.5.1: a close frame without a payload has no status")
    func noStatus() {
        #expect(Reception(.client, RawFrame.make(RawFrame.close)).events == [.close(.noStatus, reason: "")])
    }

    @Test("§5.5.1: a payload of one byte is refused")
    func oneByte() {
        #expect(Reception(.client, RawFrame.make(RawFrame.close, [3])).violation?.code == .protocolError)
    }

    @Test("§5.5.1: code and reason are received")
    func codeAndReason() {
        let reception = Reception(.client, RawFrame.close(4001, "genug, grüße".utf8))
        #expect(reception.events == [.close(WebSocketCloseCode(rawValue: 4001), reason: "genug, grüße")])
        #expect(Reception(.client, RawFrame.close(1000)).events == [.close(.normal, reason: "")])
    }

    @Test("§7.4: exactly the codes that a close frame may contain are accepted and sent")
    func allCodes() {
        let valid = Set<UInt16>(1000...1003).union(1007...1014).union(3000...4999)
        let machine = WebSocketMachine(role: .server)
        for number in UInt16.min ... .max {
            let code = WebSocketCloseCode(rawValue: number)
            let frame = RawFrame.close(number)
            let reception = Reception(.client, frame)
            if valid.contains(number) {
                guard reception.events == [.close(code, reason: "")], machine.encodeClose(code, reason: "") == frame
                else { Issue.record("\(number) was refused"); continue }
            } else {
                guard reception.violation?.code == .protocolError, reception.events.isEmpty,
                    machine.encodeClose(code, reason: "ignored") == RawFrame.make(RawFrame.close)
                else { Issue.record("\(number) was accepted"); continue }
            }
        }
    }

    @Test(
        "§7.4: the named codes have their numbers",
        arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000] as [UInt16])
    func invalidCodes(number: UInt16) {
        #expect(!WebSocketCloseCode(rawValue: number).isValidOnWire)
        #expect(Reception(.client, RawFrame.close(number, "why".utf8)).violation?.code == .protocolError)
    }

    @Test(
        "§5.5.1: a reason that is not UTF-8 is refused",
        arguments: [[0xFF], [0x61, 0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
    func invalidReason(reason: [UInt8]) {
        let reception = Reception(.client, RawFrame.close(1000, reason))
        #expect(reception.violation?.code == .invalidText && reception.events.isEmpty)
    }

    @Test("§5.5.1: bytes after a close frame are ignored")
    func bytesAfterClose() {
        let close = RawFrame.close(1000)
        let events: [WebSocketMachine.Event] = [.close(.normal, reason: "")]
        for rest in [RawFrame.make(RawFrame.text, [0x61]), Data([0xFF, 0xFF, 0xFF]), close] {
            #expect(Reception(.client, close + rest).events == events)
            #expect(Reception(.client, close, rest).events == events)
            #expect(Reception(.client, close + rest, rest).violation == nil)
        }
    }

    @Test("§7.1.7: events before a violation are returned, later bytes ignored, however split")
    func eventsBeforeAViolation() throws {
        let bytes =
            RawFrame.make(RawFrame.text, "a".utf8) + RawFrame.make(RawFrame.ping) + RawFrame.make(RawFrame.text, [0xFF])
            + RawFrame.make(RawFrame.text, "b".utf8)
        for split in 0...bytes.count {
            let reception = Reception(.client, bytes.prefix(split), bytes.dropFirst(split))
            #expect(reception.events == [.message(.text("a")), .ping(Data())])
            #expect(reception.violation?.code == .invalidText)
        }
        var machine = WebSocketMachine(role: .client)
        #expect(try machine.receive(bytes).count == 2)
        #expect(throws: WebSocketViolation.self) { try machine.throwViolation() }
        try machine.throwViolation()
        #expect(try machine.receive(bytes).isEmpty)
        #expect(machine.keptBytes == 0)
    }

    @Test("§5.5.1: a reason is truncated to 123 bytes between two characters")
    func truncatedReason() {
        let machine = WebSocketMachine(role: .server)
        for (character, size) in [("a", 1), ("ü", 2), ("€", 3), ("😀", 4)] {
            for offset in 0..<4 {
                let reason = String(repeating: "x", count: offset) + String(repeating: character, count: 200)
                let kept =
                    String(repeating: "x", count: offset)
                    + String(repeating: character, count: (123 - offset) / size)
                let frame = machine.encodeClose(.normal, reason: reason)
                #expect(frame == RawFrame.close(1000, kept.utf8))
                #expect(Reception(.client, frame).events == [.close(.normal, reason: kept)])
            }
        }
    }
}
