// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// The rules of RFC 6455 §5.6 and §8.1 about text.
@Suite(.timeLimit(.minutes(1)))
struct WebSocketTextTests {
    private static let words = "a κόσμε ü € 😀 \u{10FFFF} \u{7FF}\u{800}\u{FFFF}\u{10000} 日本語"

    private static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return Array(String(decoding: bytes, as: UTF8.self).utf8) == bytes
    }

    /// Returns whether more bytes can make valid text of these ones.
    private static func isBeginning(_ bytes: [UInt8]) -> Bool {
        let rests: [[UInt8]] = [
            [], [0x80], [0xBF], [0x90], [0x80, 0x80], [0x90, 0x80], [0xA0, 0x80], [0x80, 0x80, 0x80],
            [0x90, 0x80, 0x80],
        ]
        return rests.contains { isText(bytes + $0) }
    }

    @Test("§5.4: a character may be split over frames at each byte")
    func splitOverFrames() {
        let bytes = Array(Self.words.utf8)
        for split in 0...bytes.count {
            let reception = Reception(
                .client, RawFrame.make(RawFrame.text, bytes[..<split], isFinal: false),
                RawFrame.make(RawFrame.continuation, bytes[split...]))
            #expect(reception.events == [.message(.text(Self.words))])
        }
        let pieces = bytes.enumerated().map {
            RawFrame.make($0 == 0 ? RawFrame.text : RawFrame.continuation, [$1], isFinal: $0 == bytes.count - 1)
        }
        #expect(Reception(.client, pieces.reduce(Data(), +)).events == [.message(.text(Self.words))])
    }

    @Test("A frame may arrive split at each byte, and byte by byte, masked or not")
    func splitOnArrival() {
        for (role, mask) in [(.client, nil), (.server, [1, 0x82, 3, 0xF4])] as [(WebSocketMachine.Role, [UInt8]?)] {
            let frame = RawFrame.make(RawFrame.text, Self.words.utf8, mask: mask)
            for split in 0...frame.count {
                let reception = Reception(role, frame.prefix(split), frame.dropFirst(split))
                #expect(reception.events == [.message(.text(Self.words))])
            }
            var machine = WebSocketMachine(role: role)
            #expect(Reception(&machine, frame.map { Data([$0]) }).events == [.message(.text(Self.words))])
        }
    }

    @Test(
        "§8.1: invalid text is refused when the invalid byte arrives, in an incomplete frame too",
        arguments: [
            [0xFF], [0x61, 0x80], [0xC0], [0xC1], [0xC3, 0x61], [0xE0, 0x9F], [0xED, 0xA0], [0xE2, 0x82, 0x41],
            [0xF0, 0x8F], [0xF4, 0x90], [0xF5], [0xF1, 0x80, 0x80, 0xC0], [0xFE], Array("κόσμε".utf8) + [0xF4, 0x90],
            Array("12345678".utf8) + [0xF8],
        ] as [[UInt8]])
    func refusedAtOnce(start: [UInt8]) throws {
        let payload = start + Array("edited".utf8)
        for (role, mask) in [(.client, nil), (.server, [1, 0x82, 3, 0xF4])] as [(WebSocketMachine.Role, [UInt8]?)] {
            for isFinal in [true, false] {
                var machine = WebSocketMachine(role: role)
                let frame = RawFrame.make(RawFrame.text, payload, isFinal: isFinal, mask: mask)
                let head = frame.count - payload.count
                for (index, byte) in frame.prefix(head + start.count - 1).enumerated() {
                    #expect(try machine.receive(Data([byte])).isEmpty, "byte \(index)")
                }
                let last = Data([frame[head + start.count - 1]])
                #expect(Reception(&machine, [last]).violation?.code == .invalidText)
                #expect(Reception(role, frame).violation?.code == .invalidText)
            }
        }
    }

    @Test("§8.1: invalid text in a continuation is refused before its frame is complete")
    func refusedInContinuation() {
        let reception = Reception(
            .client, RawFrame.make(RawFrame.text, [0xE2], isFinal: false), Data([0x80, 5, 0x82, 0x41]))
        #expect(reception.violation?.code == .invalidText)
    }

    @Test("§8.1: text that ends within a character is refused", arguments: ["ü", "€", "😀"])
    func endsWithinCharacter(character: String) {
        let bytes = Array(character.utf8)
        for count in 1..<bytes.count {
            let part = Array("abc".utf8) + bytes.prefix(count)
            #expect(Reception(.client, RawFrame.make(RawFrame.text, part)).violation?.code == .invalidText)
            let first = RawFrame.make(RawFrame.text, part, isFinal: false)
            #expect(Reception(.client, first).violation == nil)
            #expect(Reception(.client, first, RawFrame.make(RawFrame.continuation)).violation?.code == .invalidText)
        }
    }

    @Test("A binary message may contain anything, also after a text message in pieces")
    func binaryIsNotChecked() {
        let bytes: [UInt8] = [0xFF, 0xC0, 0x80]
        let reception = Reception(
            .client, RawFrame.make(RawFrame.text, [0xC3], isFinal: false), RawFrame.make(RawFrame.continuation, [0xBC]),
            Data([0x82, 3, 0xFF]), Data([0xC0, 0x80]))
        #expect(reception.events == [.message(.text("ü")), .message(.binary(Data(bytes)))])
    }

    @Test("The checker agrees with the standard library about all pairs of bytes at the borders")
    func pairs() {
        let borders: [UInt8] = [0, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xF0, 0xFF]
        for first in UInt8.min ... .max {
            for second in borders {
                var checker = UTF8Checker()
                let isBeginning = checker.receive(Data([first, second]))
                guard isBeginning == Self.isBeginning([first, second]),
                    (isBeginning && checker.isComplete) == Self.isText([first, second])
                else { Issue.record("\([first, second])"); continue }
            }
        }
    }

    @Test(
        "The checker agrees with the standard library about random bytes in random pieces",
        arguments: 0..<8 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let lead: [UInt8] = [0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xC1, 0x7F]
        let next: [UInt8] = [0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0x80, 0xBF, 0x61]
        for _ in 0..<1_000 {
            var bytes = [UInt8](repeating: 0x61, count: .random(in: 0..<20, using: &random))
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                bytes.append(lead.randomElement(using: &random) ?? 0)
                for _ in 0..<Int.random(in: 0..<4, using: &random) {
                    bytes.append(next.randomElement(using: &random) ?? 0)
                }
            }
            var checker = UTF8Checker()
            var rest = bytes[...]
            var isValid = true
            while !rest.isEmpty, isValid {
                let count = Int.random(in: 1...rest.count, using: &random)
                isValid = checker.receive(Data(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let isText = isValid && checker.isComplete
            if isText != Self.isText(bytes) { Issue.record("seed \(seed): \(bytes)") }
        }
    }
}
