// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// Random messages in random fragments, split at random places, and hostile frames.
///
/// `CURLEW_WEBSOCKET_FRAMES` is the number of hostile frames: 20,000 in every run, a million before a release.
/// `CURLEW_WEBSOCKET_SEED` is the first seed.
@Suite(.timeLimit(.minutes(30)))
struct WebSocketFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let frames = environment["CURLEW_WEBSOCKET_FRAMES"].flatMap { Int($0) } ?? 20_000
    private static let first = environment["CURLEW_WEBSOCKET_SEED"].flatMap { UInt64($0) } ?? 1

    private static func message(_ random: inout SeededGenerator) -> WebSocketMessage {
        let characters: [Character] = ["a", "z", "ü", "€", "😀", "\u{0}", "\u{7FF}", "\u{FFFF}"]
        if Bool.random(using: &random) { return .binary(Data(random.bytes(upTo: 400))) }
        let count = Int.random(in: 0..<100, using: &random)
        return .text(String((0..<count).map { _ in characters.randomElement(using: &random) ?? "a" }))
    }

    @Test(
        "Messages arrive as they were sent, whatever the fragments and the pieces", arguments: 0..<64 as Range<UInt64>)
    func roundTrips(number: UInt64) throws {
        let seed = Self.first &* 1_000_003 &+ number
        var random = SeededGenerator(seed: seed)
        let role: WebSocketMachine.Role = number % 2 == 0 ? .client : .server
        let sender = WebSocketMachine(role: role, mask: { [key = random.next()] in UInt32(truncatingIfNeeded: key) })
        var (bytes, events) = (Data(), [] as [WebSocketMachine.Event])
        for _ in 0..<20 {
            if Int.random(in: 0..<4, using: &random) == 0 {
                let payload = Data(random.bytes(upTo: 125))
                bytes.append(sender.encodePing(payload))
                events.append(.ping(payload))
            }
            let message = Self.message(&random)
            let fragment = Bool.random(using: &random) ? nil : Int.random(in: 1..<200, using: &random)
            bytes.append(try sender.encode(message, fragment: fragment))
            events.append(.message(message))
        }
        bytes.append(sender.encodeClose(.goingAway, reason: "done"))
        events.append(.close(.goingAway, reason: "done"))
        for most in [1, 7, 200, bytes.count] {
            var receiver = WebSocketMachine(role: role == .client ? .server : .client)
            var (rest, pieces) = (bytes[...], [] as [Data])
            while !rest.isEmpty {
                let count = Int.random(in: 1...most, using: &random)
                pieces.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            let reception = Reception(&receiver, pieces)
            #expect(reception.violation == nil && reception.events == events, "seed \(seed), pieces up to \(most)")
        }
    }

    @Test("A small document arrives whole, however it is split in three")
    func everySplit() throws {
        let sender = WebSocketMachine(role: .client)
        let bytes =
            try sender.encode(.text("grüße €"), fragment: 3) + sender.encodePing(Data([1, 2]))
            + sender.encode(.binary(Data(count: 130))) + sender.encodeClose(.normal, reason: "é")
        let expected = Reception(.server, bytes)
        #expect(expected.events.count == 4)
        for one in 0...bytes.count {
            for two in stride(from: one, through: bytes.count, by: one < 48 ? 1 : 7) {
                let pieces = (bytes.prefix(one), bytes[one..<two], bytes.dropFirst(two))
                let reception = Reception(.server, pieces.0, pieces.1, pieces.2)
                if reception != expected { Issue.record("split at \(one) and \(two)") }
            }
        }
    }

    /// A frame that is mostly valid, so that it reaches deep states.
    private static func frame(_ random: inout SeededGenerator, isMasked: Bool) -> Data {
        func chance(_ rarity: Int) -> Bool { Int.random(in: 0..<rarity, using: &random) == 0 }
        let opcodes: [UInt8] = [0, 0, 0, 1, 2, 9, 10]
        let opcode = chance(60) ? UInt8.random(in: 0..<16, using: &random) : opcodes.randomElement(using: &random) ?? 0
        var payload = opcode == 1 || opcode == 0 ? Array("aü€😀".utf8) : random.bytes(upTo: opcode > 7 ? 126 : 300)
        if chance(40) { payload = random.bytes(upTo: 700) }
        if opcode == 8, chance(2) { payload = [3, UInt8.random(in: 0xE0...0xFF, using: &random)] + payload }
        let mask = isMasked != chance(200) ? (0..<4).map { _ in UInt8.random(in: .min ... .max, using: &random) } : nil
        let isLong = chance(100)
        var frame = RawFrame.make(
            opcode, payload, isFinal: opcode > 7 ? !chance(60) : chance(2),
            reserved: chance(60) ? UInt8.random(in: 0..<8, using: &random) : 0, mask: mask,
            lengthSize: isLong ? 8 : nil)
        while chance(30), let place = frame.indices.randomElement(using: &random) {
            frame[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        if chance(100) { frame = frame.prefix(Int.random(in: 0...frame.count, using: &random)) }
        return frame
    }

    @Test(
        "Hostile frames neither crash nor fill memory, and pieces do not change the outcome",
        arguments: 0..<8)
    func hostile(part: Int) {
        let limits = WebSocketMachine.Limits(message: 1000, frame: 600)
        var number = 0
        var streams: UInt64 = 0
        while number < Self.frames / 8 {
            let seed = Self.first &* 1_000_003 &+ UInt64(part) << 40 &+ streams
            streams += 1
            var random = SeededGenerator(seed: seed)
            let role: WebSocketMachine.Role = Bool.random(using: &random) ? .client : .server
            var bytes = Data()
            let count = Int.random(in: 1...12, using: &random)
            for _ in 0..<count { bytes.append(Self.frame(&random, isMasked: role == .server)) }
            number += count
            var machine = WebSocketMachine(role: role, limits: limits)
            let whole = Reception(&machine, [bytes])
            var split = WebSocketMachine(role: role, limits: limits)
            var (rest, events, violation) = (bytes[...], [] as [WebSocketMachine.Event], nil as WebSocketViolation?)
            while !rest.isEmpty, violation == nil {
                let size = Int.random(in: 1...100, using: &random)
                let reception = Reception(&split, [rest.prefix(size)])
                events += reception.events
                violation = reception.violation
                rest = rest.dropFirst(size)
                // The message, and a control frame between its fragments.
                if split.keptBytes > 1000 + 139 { Issue.record("seed \(seed): \(split.keptBytes) bytes are kept") }
            }
            if events != whole.events || violation != whole.violation {
                Issue.record("seed \(seed): the split matters")
            }
        }
    }
}
