// SPDX-License-Identifier: MIT

import CurlewStreams
import Testing

@testable import CurlewStreams

/// permessage-deflate (RFC 7692).
@Suite(.timeLimit(.minutes(2)))
struct DeflateCompressionTests {
    private static let limit = 16 << 20

    private static func parameters(
        server: Int? = nil, client: Int? = nil, serverResets: Bool = false, clientResets: Bool = false
    ) -> PerMessageDeflate {
        var parameters = PerMessageDeflate()
        (parameters.serverMaxWindowBits, parameters.clientMaxWindowBits) = (server, client)
        (parameters.serverNoContextTakeover, parameters.clientNoContextTakeover) = (serverResets, clientResets)
        return parameters
    }

    /// Texts that repeat within short and long windows, random bytes, and sizes around the buffer of 16 KiB.
    private static let payloads: [Data] = {
        var random = SeededGenerator(seed: 7692)
        let noise = Data((0..<5_000).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        let words = Data((0..<9_000).map { UInt8(97 + ($0 * $0 / 7) % 26) })
        return [
            Data(), Data(), Data([1]), Data("Hello".utf8), Data("Hello".utf8), noise, noise, words,
            words + noise + words,
            Data(count: 16_383), Data(count: 16_384), Data(count: 16_385), Data(count: 200_000),
        ]
    }()

    @Test("Messages round trip in both directions, for every window and takeover", arguments: 8...15)
    func combinations(server: Int) throws {
        for client in 8...15 {
            for (serverResets, clientResets) in [(false, false), (false, true), (true, false), (true, true)] {
                let parameters = Self.parameters(
                    server: server, client: client, serverResets: serverResets, clientResets: clientResets)
                let one = try WebSocketMachine(
                    role: .client, compression: DeflateCompression(parameters, role: .client))
                let other = try WebSocketMachine(
                    role: .server, compression: DeflateCompression(parameters, role: .server))
                for (sender, receiver) in [(one, other), (other, one)] {
                    var receiver = receiver
                    for payload in Self.payloads {
                        let frames = try sender.encode(.binary(payload), fragment: 4_000)
                        let events = try receiver.receive(frames)
                        #expect(events == [.message(.binary(payload))], "\(parameters), \(payload.count) bytes")
                    }
                    let text = String(repeating: "grüße ", count: 50)
                    #expect(try receiver.receive(sender.encode(.text(text))) == [.message(.text(text))])
                }
            }
        }
    }

    @Test("A small window suffices for a receiver that keeps no more", arguments: 8...15)
    func windows(bits: Int) throws {
        // The receiver has exactly the negotiated window: a longer distance is refused by zlib.
        let sender = try DeflateCompression(Self.parameters(server: bits), role: .server)
        let receiver = try DeflateCompression(Self.parameters(server: bits), role: .client)
        var random = SeededGenerator(seed: UInt64(bits))
        let block = Data((0..<300).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        for gap in [0, 200, 600, 5_000, 33_000] {
            let payload = block + Data((0..<gap).map { UInt8(truncatingIfNeeded: $0) }) + block
            #expect(try receiver.decompress(sender.compress(payload), limit: Self.limit) == payload)
        }
    }

    @Test("With takeover the second message is smaller, without it the same")
    func takeover() throws {
        let text = Data("The window keeps what was sent before.".utf8)
        let keeps = try DeflateCompression(Self.parameters(), role: .client)
        let first = try keeps.compress(text)
        #expect(try keeps.compress(text).count < first.count / 2)
        let resets = try DeflateCompression(Self.parameters(clientResets: true), role: .client)
        #expect(try resets.compress(text) == first)
        #expect(try resets.compress(text) == first)
    }

    // MARK: §7.2.3, examples

    private static let hello = Data("Hello".utf8)

    @Test(
        "§7.2.3: the examples of payloads",
        arguments: [
            ([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], "Hello"),
            ([0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00], "Hello"),
            ([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], "Hello"),
            ([0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00], "Hello"),
            ([0x00], ""),
        ] as [([UInt8], String)])
    func examples(payload: [UInt8], text: String) throws {
        let receiver = try DeflateCompression(PerMessageDeflate(), role: .client)
        for _ in 0..<3 { #expect(try receiver.decompress(Data(payload), limit: 5) == Data(text.utf8)) }
    }

    @Test("§7.2.3.1 and §7.2.3.2: the examples are sent, and received in fragments")
    func takeoverExample() throws {
        let sender = try DeflateCompression(PerMessageDeflate(), role: .server)
        #expect(try sender.compress(Self.hello) == Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]))
        #expect(try sender.compress(Self.hello) == Data([0xF2, 0x00, 0x11, 0x00, 0x00]))
        var machine = try WebSocketMachine(
            role: .client, compression: DeflateCompression(PerMessageDeflate(), role: .client))
        let fragments = Data([0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00])
        #expect(try machine.receive(fragments) == [.message(.text("Hello"))])
        #expect(try machine.receive(Data([0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00])) == [.message(.text("Hello"))])
        // A message without RSV1 is not compressed.
        #expect(try machine.receive(RawFrame.make(RawFrame.text, Self.hello)) == [.message(.text("Hello"))])
    }

    @Test("§6.1: an empty message is one empty block, each time")
    func emptyMessages() throws {
        let sender = try DeflateCompression(PerMessageDeflate(), role: .client)
        for _ in 0..<3 { #expect(try sender.compress(Data()) == Data([0])) }
    }

    // MARK: Hostile data

    @Test("Data that grows by compression is accepted up to the limit", arguments: [0, 1, 100, 100_000, 1_000_000])
    func incompressible(limit: Int) throws {
        var random = SeededGenerator(seed: 1951)
        let noise = Data((0...limit).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        let parameters = Self.parameters()
        let limits = WebSocketMachine.Limits(message: limit, frame: limit)
        for fragment in [Int.max, 1_000] {
            let server = try WebSocketMachine(
                role: .server, compression: DeflateCompression(parameters, role: .server))
            var client = try WebSocketMachine(
                role: .client, limits: limits, compression: DeflateCompression(parameters, role: .client))
            let most = noise.prefix(limit)
            #expect(try client.receive(server.encode(.binary(most), fragment: fragment)) == [.message(.binary(most))])
            let violation = #expect(throws: WebSocketViolation.self) {
                try client.receive(server.encode(.binary(noise), fragment: fragment))
            }
            #expect(violation?.code == .messageTooBig)
        }
    }

    @Test("The limit counts decompressed bytes, and holds for a bomb")
    func bomb() throws {
        let sender = try DeflateCompression(PerMessageDeflate(), role: .server)
        let bomb = try sender.compress(Data(count: 8 << 20))
        #expect(bomb.count < 10_000)
        for limit in [0, 1, 16_383, 16_384, 1 << 20, (8 << 20) - 1] {
            let receiver = try DeflateCompression(PerMessageDeflate(), role: .client)
            let error = #expect(throws: WebSocketViolation.self) { try receiver.decompress(bomb, limit: limit) }
            #expect(error?.code == .messageTooBig)
        }
        let receiver = try DeflateCompression(PerMessageDeflate(), role: .client)
        #expect(try receiver.decompress(bomb, limit: 8 << 20).count == 8 << 20)
    }

    @Test(
        "Data that is not deflate, or ends within a block, is a violation",
        arguments: [
            [], [0x07], [0xFF, 0xFF], [0x00, 0x05, 0x00, 0xFA, 0xFE], [0x00, 0x05, 0x00, 0xFA, 0xFF],
            [0xF2, 0x48, 0xCD], [0xF2, 0x00, 0x11, 0x00, 0x00], [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
        ] as [[UInt8]])
    func corrupt(payload: [UInt8]) throws {
        let receiver = try DeflateCompression(PerMessageDeflate(), role: .client)
        let error = #expect(throws: WebSocketViolation.self) { try receiver.decompress(Data(payload), limit: 1000) }
        #expect(error?.code == .invalidText)
    }

    @Test("Random and changed data never exceeds the limit", arguments: 0..<8 as Range<UInt64>)
    func hostile(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sender = try DeflateCompression(Self.parameters(serverResets: true), role: .server)
        let valid = try sender.compress(Self.payloads[8])
        let receiver = try DeflateCompression(PerMessageDeflate(), role: .client)
        for _ in 0..<200 {
            var bytes = Bool.random(using: &random) ? Data(random.bytes(upTo: 200)) : valid
            for _ in 0..<3 {
                guard let place = bytes.indices.randomElement(using: &random) else { break }
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
            let result = try? receiver.decompress(bytes, limit: 10_000)
            if let result, result.count > 10_000 { Issue.record("seed \(seed): \(result.count) bytes") }
        }
    }
}
