// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP
@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct HTTP1ResponseParserFuzzTests {
    private static let samples =
        HTTP1ResponseParserTests.accepted.map { ($0.bytes, $0.method) }
        + HTTP1ResponseParserTests.refused.map { (Array($0.0.utf8), .get) }

    private static let pieces = [
        "\r\n", "\n", "\r", " ", "\t", "\0", ":", ",", ";", "0", "1", "f", "\u{e9}", "HTTP/1.1 200 OK\r\n", "0\r\n\r\n",
        "HTTP/1.1 100\r\n\r\n", "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
    ].map { Array($0.utf8) }

    @Test("However changed samples are split, with cached fields or without, the result is the same")
    func mutations() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let cache = FieldCache()
        for _ in 0..<3000 {
            var (bytes, method) = Self.samples.randomElement(using: &random) ?? ([], .get)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let start = Int.random(in: 0...bytes.count, using: &random)
                let end = min(bytes.count, start + Int.random(in: 0...2, using: &random))
                bytes.replaceSubrange(start..<end, with: Self.pieces.randomElement(using: &random) ?? [])
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                method = [.head, .connect].randomElement(using: &random) ?? .head
            }
            let bound = Bool.random(using: &random) ? 1000 : Int.random(in: 0...80, using: &random)
            let fields = Bool.random(using: &random) ? 10 : Int.random(in: 0...2, using: &random)
            func run(_ cuts: [Int], _ known: FieldCache?) -> ResponseRun {
                ResponseRun(
                    bytes, cuts: cuts, method: method, maximumHeadBytes: bound, maximumFields: fields, known: known)
            }
            let whole = run([], nil)
            let cuts = bytes.indices.filter { _ in Int.random(in: 0..<9, using: &random) == 0 }
            #expect(run(cuts, cache) == whole, "seed \(seed)")
            #expect(run(Array(bytes.indices), nil) == whole, "seed \(seed)")
            #expect(whole.consumed <= bytes.count && whole.content.count <= bytes.count, "seed \(seed)")
        }
    }

    @Test("What the writer writes is read as it was")
    func roundTrip() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let count = Int.random(in: 0...5, using: &random)
            let headers = HTTPHeaders((0..<count).map { HTTPField(name: .init("X-\($0)"), value: "v, \($0)") })
            let content = random.bytes(upTo: 60)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                try HTTP1ResponseWriter.informational(.earlyHints, headers: headers, into: &bytes)
            }
            let framing: HTTP1ResponseWriter.Framing =
                [.length(content.count), .chunked, .untilClose].randomElement(using: &random) ?? .chunked
            try HTTP1ResponseWriter.head(.notFound, headers: headers, framing: framing, into: &bytes)
            if framing == .chunked {
                let middle = content.count / 2
                HTTP1ResponseWriter.chunk(content[..<middle], into: &bytes)
                HTTP1ResponseWriter.chunk(content[middle...], into: &bytes)
                try HTTP1ResponseWriter.lastChunk(trailers: headers, into: &bytes)
            } else {
                bytes += content
            }
            let run = ResponseRun(bytes, maximumFields: 20)
            let fields = headers.map { "|\($0.name.text): \($0.value)" }.joined()
            #expect(run.error == nil && run.content == content, "seed \(seed)")
            #expect(run.events.dropLast().allSatisfy { $0.hasSuffix(fields) }, "seed \(seed)")
            #expect(run.events.last == "end" + (framing == .chunked ? fields : ""), "seed \(seed)")
            #expect(run.keepsConnection == (framing != .untilClose), "seed \(seed)")
        }
    }

    /// The inputs of `Scripts/fuzz`, which say what their first three bytes mean.
    @Test("The inputs that the fuzzer has found give the same result in one piece and in several")
    func corpus() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Fuzzing")
        let file = try Data(contentsOf: folder.appendingPathComponent("responses.txt"))
        let inputs = String(decoding: file, as: UTF8.self).split(separator: "\n")
        #expect(inputs.count > 20)
        let cache = FieldCache()
        for line in inputs {
            let input = Array(try #require(Data(base64Encoded: String(line))))
            let bytes = Array(input.dropFirst(3))
            let cut = (Int(input[1]) << 8 | Int(input[2])) % (bytes.count + 1)
            func run(_ cuts: [Int], _ known: FieldCache?) -> ResponseRun {
                ResponseRun(
                    bytes, cuts: cuts, method: [.get, .head, .connect, .get][Int(input[0] & 3)],
                    maximumHeadBytes: [.max, 4096, 100, 30][Int(input[0] >> 2 & 3)],
                    maximumFields: [.max, 10, 2, 0][Int(input[0] >> 4 & 3)], known: known)
            }
            let whole = run([], nil)
            #expect(run([cut], cache) == whole, "\(line)")
            #expect(run(Array(bytes.indices), nil) == whole, "\(line)")
        }
    }
}
