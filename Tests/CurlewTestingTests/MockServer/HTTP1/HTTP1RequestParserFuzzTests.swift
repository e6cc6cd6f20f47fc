// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct HTTP1RequestParserFuzzTests {
    static let samples = [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello worldGET /b HTTP/1.1\r\nHost: y\r\n\r\n",
        "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nab\r\nc\r\n1\r\n\n\r\n0\r\nT: 1\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\nHost: z\r\nX: \t\r\n\r\n",
    ]

    @Test("However a stream is split, the events and the error are the same")
    func splits() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<600 {
            var stream: [UInt8] = []
            for _ in 0..<3 { stream += Array((Self.samples.randomElement(using: &random) ?? "").utf8) }
            // Half of the streams get one byte changed, so that errors are met at every place too.
            if Bool.random(using: &random) {
                let bytes: [UInt8] = [0x0A, 0x0D, 0x20, 0x00, 0x3A, 0x30, 0x66, 0xFF]
                stream[Int.random(in: stream.indices, using: &random)] = bytes.randomElement(using: &random) ?? 0
            }
            let whole = ParserRun([stream])
            #expect(ParserRun(cut(stream, &random)) == whole, "seed \(seed)")
            #expect(ParserRun(stream.map { [$0] }) == whole, "seed \(seed)")
        }
    }

    @Test("Limits apply at the same offset however a stream is split")
    func splitLimits() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            var limits = HTTP1RequestParser.Limits()
            limits.headBytes = Int.random(in: 1...80, using: &random)
            limits.fields = Int.random(in: 0...3, using: &random)
            limits.bodyBytes = Int.random(in: 0...12, using: &random)
            limits.chunkLineBytes = Int.random(in: 1...8, using: &random)
            let stream = Array((Self.samples.randomElement(using: &random) ?? "").utf8)
            let whole = ParserRun([stream], limits: limits)
            #expect(ParserRun(cut(stream, &random), limits: limits) == whole, "seed \(seed)")
        }
    }

    @Test("Random bytes never trap and never make an endless stream of events")
    func randomBytes() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let prefix = Bool.random(using: &random) ? "POST / HTTP/1.1\r\nHost: x\r\n" : ""
            let stream = Array(prefix.utf8) + random.bytes(upTo: 300)
            #expect(ParserRun(cut(stream, &random)).requests.count <= stream.count / 16, "seed \(seed)")
        }
    }

    @Test("Samples with many changed bytes never trap")
    func mutations() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var stream = Array((Self.samples.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: stream.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: stream[place] = UInt8.random(in: 0...255, using: &random)
                case 1: stream.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: if stream.count > 1 { stream.remove(at: place) }
                }
            }
            let run = ParserRun([stream])
            let bodies = run.requests.reduce(0) { $0 + $1.body.count }
            #expect(bodies <= stream.count, "seed \(seed)")
        }
    }

    private func cut(_ stream: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let length = Int.random(in: 0...min(rest.count, 20), using: &random)
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}
