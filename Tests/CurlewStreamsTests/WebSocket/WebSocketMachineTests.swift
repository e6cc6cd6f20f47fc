// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// The rules of RFC 6455 §5.1 to §5.5 about frames.
@Suite(.timeLimit(.minutes(1)))
struct WebSocketMachineTests {
    private let hello = Array("Hello".utf8)
    private let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    private func code(_ role: WebSocketMachine.Role = .client, _ pieces: Data...) -> WebSocketCloseCode? {
        var machine = WebSocketMachine(role: role)
        return Reception(&machine, pieces).violation?.code
    }

    // MARK: §5.7, examples

    @Test("§5.7: a single unmasked text frame is received")
    func unmaskedText() throws {
        let bytes = Data([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(Reception(.client, bytes).events == [.message(.text("Hello"))])
        #expect(try WebSocketMachine(role: .server).encode(.text("Hello")) == bytes)
    }

    @Test("§5.7: a single masked text frame is received")
    func maskedText() throws {
        let bytes = Data([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(Reception(.server, bytes).events == [.message(.text("Hello"))])
        #expect(try WebSocketMachine(role: .client, mask: { 0x37FA_213D }).encode(.text("Hello")) == bytes)
    }

    @Test("§5.7: a fragmented unmasked text message is received")
    func fragmentedText() throws {
        let first = Data([0x01, 0x03, 0x48, 0x65, 0x6C])
        let second = Data([0x80, 0x02, 0x6C, 0x6F])
        #expect(Reception(.client, first).events.isEmpty)
        #expect(Reception(.client, first, second).events == [.message(.text("Hello"))])
        #expect(try WebSocketMachine(role: .server).encode(.text("Hello"), fragment: 3) == first + second)
    }

    @Test("§5.7: an unmasked ping and a masked pong are received")
    func pingAndPong() {
        let ping = Data([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        let pong = Data([0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(Reception(.client, ping).events == [.ping(Data(hello))])
        #expect(Reception(.server, pong).events == [.pong(Data(hello))])
        #expect(WebSocketMachine(role: .server).encodePing(Data(hello)) == ping)
        #expect(WebSocketMachine(role: .client, mask: { 0x37FA_213D }).encodePong(Data(hello)) == pong)
    }

    @Test("§5.7: binary messages of 256 bytes and of 64 KiB arrive in one frame")
    func longBinary() throws {
        for (head, size) in [([0x82, 0x7E, 1, 0], 256), ([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0], 65_536)] {
            let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let bytes = Data(head.map { UInt8($0) }) + data
            #expect(Reception(.client, bytes).events == [.message(.binary(data))])
            #expect(try WebSocketMachine(role: .server).encode(.binary(data)) == bytes)
        }
    }

    // MARK: §5.1 and §5.3, masking

    @Test("§5.1: a client refuses a masked frame, a server an unmasked one")
    func maskingIsChecked() {
        #expect(code(.client, RawFrame.make(RawFrame.text, hello, mask: key)) == .protocolError)
        #expect(code(.server, RawFrame.make(RawFrame.text, hello)) == .protocolError)
        #expect(code(.client, RawFrame.make(RawFrame.ping, mask: key)) == .protocolError)
        #expect(code(.server, RawFrame.make(RawFrame.ping)) == .protocolError)
    }

    @Test("§5.3: a client masks every frame with a new key, a server masks none")
    func everyFrameIsMasked() throws {
        let client = WebSocketMachine(role: .client)
        let server = WebSocketMachine(role: .server)
        func frames(_ machine: WebSocketMachine) throws -> [Data] {
            try [
                machine.encode(.text("a")), machine.encode(.binary(Data())), machine.encodePing(Data()),
                machine.encodePong(Data([1])), machine.encodeClose(.normal, reason: "b"),
                machine.encodeClose(nil, reason: ""),
            ]
        }
        for frame in try frames(server) { #expect(frame[1] & 0x80 == 0) }
        var keys: Set<Data> = []
        for frame in try frames(client) {
            #expect(frame[1] & 0x80 != 0)
            keys.insert(frame[2..<6])
        }
        #expect(keys.count == 6)
    }

    @Test("§5.3: masks of all lengths are removed", arguments: 0..<40)
    func masks(size: Int) throws {
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 11) })
        let frame = try WebSocketMachine(role: .client, mask: { 0x37FA_213D }).encode(.binary(data))
        #expect(frame == RawFrame.make(RawFrame.binary, data, mask: key))
        #expect(Reception(.server, frame).events == [.message(.binary(data))])
    }

    // MARK: §5.2, the header

    @Test("§5.2: reserved bits without an extension are refused", arguments: [1, 2, 3, 4, 5, 6, 7] as [UInt8])
    func reservedBits(bits: UInt8) {
        for opcode in [RawFrame.text, RawFrame.binary, RawFrame.ping, RawFrame.pong, RawFrame.close] {
            #expect(code(.client, RawFrame.make(opcode, reserved: bits)) == .protocolError)
        }
    }

    @Test(
        "§5.2: unknown opcodes are refused by the first two bytes",
        arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
    func unknownOpcodes(opcode: UInt8) {
        #expect(code(.client, Data([0x80 | opcode, 0])) == .protocolError)
        #expect(code(.server, Data([0x80 | opcode, 0x80])) == .protocolError)
        #expect(code(.client, Data([opcode, 126])) == .protocolError)
    }

    @Test("§5.2: a length that is not in its shortest form is refused")
    func nonMinimalLengths() {
        for size in [0, 1, 125] {
            let payload = [UInt8](repeating: 7, count: size)
            #expect(code(.client, RawFrame.make(RawFrame.binary, payload, lengthSize: 2)) == .protocolError)
        }
        for size in [0, 125, 126, 65_535] {
            let payload = [UInt8](repeating: 7, count: size)
            #expect(code(.client, RawFrame.make(RawFrame.binary, payload, lengthSize: 8)) == .protocolError)
        }
        for (size, form) in [(125, 0), (126, 2), (65_535, 2), (65_536, 8)] {
            let frame = RawFrame.make(RawFrame.binary, [UInt8](repeating: 7, count: size), lengthSize: form)
            #expect(Reception(.client, frame).events == [.message(.binary(Data(repeating: 7, count: size)))])
        }
    }

    @Test("§5.2: the highest bit of a 64-bit length must be zero")
    func highBitOfLength() {
        #expect(code(.client, Data([0x82, 127, 0x80, 0, 0, 0, 0, 1, 0, 0])) == .protocolError)
        #expect(code(.client, Data([0x82, 127] + [UInt8](repeating: 0xFF, count: 8))) == .protocolError)
        // The largest length that RFC 6455 allows is too big for the limit.
        #expect(code(.client, Data([0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7))) == .messageTooBig)
    }

    @Test("The largest lengths do not overflow under the largest limits")
    func largestLengths() {
        let limits = WebSocketMachine.Limits(message: .max, frame: .max)
        var machine = WebSocketMachine(role: .client, limits: limits)
        let bytes = Data([0x02, 1, 0, 0x80, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7))
        #expect(Reception(&machine, [bytes]).violation?.code == .messageTooBig)
        machine = WebSocketMachine(role: .client, limits: limits)
        #expect(Reception(&machine, [Data([0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7))]).violation == nil)
        machine = WebSocketMachine(role: .client, limits: WebSocketMachine.Limits(message: -1, frame: -1))
        #expect(Reception(&machine, [RawFrame.make(RawFrame.text)]).violation?.code == .messageTooBig)
    }

    // MARK: §5.4, fragments

    @Test("§5.4: a continuation without a message is refused")
    func continuationWithoutStart() {
        #expect(code(.client, RawFrame.make(RawFrame.continuation, hello)) == .protocolError)
        #expect(code(.client, RawFrame.make(RawFrame.continuation, hello, isFinal: false)) == .protocolError)
        let whole = RawFrame.make(RawFrame.text, hello)
        let (rest, end) = (RawFrame.make(RawFrame.continuation, hello), RawFrame.make(RawFrame.text, isFinal: false))
        #expect(Reception(.client, end, rest, rest).violation?.code == .protocolError)
        #expect(Reception(.client, whole, rest).events == [.message(.text("Hello"))])
        #expect(code(.client, whole, rest) == .protocolError)
    }

    @Test("§5.4: a new message within a fragmented one is refused")
    func newMessageWithinMessage() {
        for first in [RawFrame.text, RawFrame.binary] {
            for second in [RawFrame.text, RawFrame.binary] {
                for isFinal in [true, false] {
                    let begin = RawFrame.make(first, hello, isFinal: false)
                    #expect(code(.client, begin, RawFrame.make(second, hello, isFinal: isFinal)) == .protocolError)
                }
            }
        }
    }

    @Test("§5.4: fragments may be empty")
    func emptyFragments() {
        let empty = RawFrame.make(RawFrame.continuation, isFinal: false)
        let end = RawFrame.make(RawFrame.continuation)
        let text = RawFrame.make(RawFrame.text, isFinal: false)
        #expect(Reception(.client, text, end).events == [.message(.text(""))])
        let middle = RawFrame.make(RawFrame.continuation, hello, isFinal: false)
        #expect(Reception(.client, text, empty, middle, empty, end).events == [.message(.text("Hello"))])
        #expect(Reception(.client, RawFrame.make(RawFrame.binary)).events == [.message(.binary(Data()))])
    }

    @Test("§5.4: control frames between fragments are received at once, and change nothing")
    func controlBetweenFragments() {
        let reception = Reception(
            .client, RawFrame.make(RawFrame.text, [0xE2, 0x82], isFinal: false), RawFrame.make(RawFrame.ping, [0xFF]),
            RawFrame.make(RawFrame.continuation, isFinal: false), RawFrame.make(RawFrame.pong, [0xFE]),
            RawFrame.make(RawFrame.continuation, [0xAC]))
        #expect(reception.violation == nil)
        #expect(reception.events == [.ping(Data([0xFF])), .pong(Data([0xFE])), .message(.text("€"))])
    }

    @Test("§5.4: a message is sent in fragments of the given size")
    func sendsFragments() throws {
        let machine = WebSocketMachine(role: .server)
        let expected =
            RawFrame.make(RawFrame.binary, [1, 2], isFinal: false)
            + RawFrame.make(RawFrame.continuation, [3, 4], isFinal: false) + RawFrame.make(RawFrame.continuation, [5])
        #expect(try machine.encode(.binary(Data([1, 2, 3, 4, 5])), fragment: 2) == expected)
        #expect(try machine.encode(.binary(Data([1, 2])), fragment: 2) == RawFrame.make(RawFrame.binary, [1, 2]))
        #expect(try machine.encode(.binary(Data()), fragment: 0) == RawFrame.make(RawFrame.binary))
    }

    // MARK: §5.5, control frames

    @Test("§5.5: a fragmented control frame is refused", arguments: [RawFrame.close, RawFrame.ping, RawFrame.pong])
    func fragmentedControl(opcode: UInt8) {
        #expect(code(.client, RawFrame.make(opcode, isFinal: false)) == .protocolError)
    }

    @Test("§5.5: a control frame has at most 125 bytes", arguments: [RawFrame.close, RawFrame.ping, RawFrame.pong])
    func longControl(opcode: UInt8) {
        let payload = [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 123)
        #expect(Reception(.client, RawFrame.make(opcode, payload)).events.count == 1)
        #expect(code(.client, RawFrame.make(opcode, payload + [0x61])) == .protocolError)
        // The header alone decides.
        #expect(code(.client, Data([0x80 | opcode, 126, 0, 126])) == .protocolError)
        #expect(code(.client, Data([0x80 | opcode, 127, 0, 0, 0, 0, 0, 1, 0, 0])) == .protocolError)
    }

    @Test("§5.5: pings and pongs are sent with at most 125 bytes")
    func sentControlIsShort() {
        let machine = WebSocketMachine(role: .server)
        let (long, short) = (Data(repeating: 1, count: 200), Data(repeating: 1, count: 125))
        #expect(machine.encodePing(long) == RawFrame.make(RawFrame.ping, short))
        #expect(machine.encodePong(long) == RawFrame.make(RawFrame.pong, short))
    }

    @Test("A receiver that takes a few events at a time receives the same events", arguments: [1, 2, 64])
    func fewAtATime(most: Int) throws {
        let server = WebSocketMachine(role: .server)
        var bytes = Data()
        for number in 0..<500 {
            try bytes.append(server.encode(.text("\(number)"), fragment: number % 3 + 1))
            if number % 7 == 0 { bytes.append(server.encodePing(Data("\(number)".utf8))) }
            if number % 100 == 0 { try bytes.append(server.encode(.binary(Data(count: 70_000)))) }
        }
        bytes.append(server.encodeClose(.normal, reason: "end"))
        var whole = WebSocketMachine(role: .client)
        let expected = try whole.receive(bytes)
        for size in [100, 1000, bytes.count] {
            var client = WebSocketMachine(role: .client)
            var events: [WebSocketMachine.Event] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += try client.receive(Data(bytes[start..<min(start + size, bytes.count)]), maximum: most)
                while client.hasMore {
                    let more = try client.receive(Data(), maximum: most)
                    #expect(more.count <= most)
                    events += more
                }
            }
            #expect(events == expected)
        }
    }
}
