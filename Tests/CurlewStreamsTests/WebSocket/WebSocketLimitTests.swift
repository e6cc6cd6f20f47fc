// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// The limits of a received message and frame (RFC 6455 §10.4).
@Suite(.timeLimit(.minutes(1)))
struct WebSocketLimitTests {
    private func code(_ message: Int, _ frame: Int, _ pieces: Data...) -> WebSocketCloseCode? {
        let limits = WebSocketMachine.Limits(message: message, frame: frame)
        var machine = WebSocketMachine(role: .client, limits: limits)
        return Reception(&machine, pieces).violation?.code
    }

    @Test("A frame above the limit is refused by its header")
    func frameLimit() {
        #expect(code(1000, 100, RawFrame.make(RawFrame.binary, Data(count: 100))) == nil)
        #expect(code(1000, 100, RawFrame.make(RawFrame.binary, Data(count: 101)).prefix(2)) == .messageTooBig)
        #expect(code(1000, 1000, Data([0x82, 126, 0x03, 0xE9])) == .messageTooBig)
    }

    @Test("A message above the limit is refused by the header of the frame that exceeds it")
    func messageLimit() {
        let begin = RawFrame.make(RawFrame.binary, Data(count: 60), isFinal: false)
        #expect(code(100, 100, begin, RawFrame.make(RawFrame.continuation, Data(count: 40))) == nil)
        #expect(code(100, 100, begin, Data([0x80, 41])) == .messageTooBig)
        #expect(code(100, 1000, Data([0x82, 101])) == .messageTooBig)
        // The sum counts from the beginning for each message.
        let whole = RawFrame.make(RawFrame.binary, Data(count: 100))
        #expect(code(100, 100, whole, whole, whole) == nil)
    }

    @Test("A limit of zero accepts empty messages and control frames")
    func zero() {
        #expect(code(0, 0, RawFrame.make(RawFrame.text), RawFrame.make(RawFrame.ping, Data(count: 125))) == nil)
        #expect(code(0, 0, RawFrame.make(RawFrame.text, [0x61])) == .messageTooBig)
    }

    @Test("A message has at most 131,072 frames")
    func frameCount() throws {
        var machine = WebSocketMachine(role: .client)
        let empty = RawFrame.make(RawFrame.continuation, isFinal: false)
        #expect(try machine.receive(RawFrame.make(RawFrame.text, isFinal: false)).isEmpty)
        let many = Data((0..<1024).flatMap { _ in Array(empty) })
        for _ in 0..<127 { #expect(try machine.receive(many).isEmpty) }
        #expect(try machine.receive(many.dropLast(2)).isEmpty)
        // 131,072 frames have arrived.
        var copy = machine
        #expect(Reception(&copy, [RawFrame.make(RawFrame.ping)]).events == [.ping(Data())])
        #expect(Reception(&copy, [RawFrame.make(RawFrame.continuation)]).violation?.code == .protocolError)
        #expect(Reception(&machine, [empty]).violation?.code == .protocolError)
    }

    @Test("An announced length costs no memory before its bytes arrive")
    func keptBytes() throws {
        var machine = WebSocketMachine(role: .client)
        #expect(try machine.receive(Data([0x82, 127, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 1, 2, 3])).isEmpty)
        #expect(machine.keptBytes == 3)
        #expect(try machine.receive(Data(count: 1000)).isEmpty)
        #expect(machine.keptBytes == 1003)
    }
}
