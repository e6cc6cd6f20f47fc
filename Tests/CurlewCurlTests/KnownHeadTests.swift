// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCurl

/// Reading a head with the help of an earlier one gives what reading it alone gives.
@Suite(.timeLimit(.minutes(1)))
struct KnownHeadTests {
    private struct Outcome: Equatable {
        let isComplete: Bool
        let fields: [String]
        let length: Int64?
        let hasBadLength: Bool
        let known: KnownHead?

        static func == (left: Outcome, right: Outcome) -> Bool {
            left.isComplete == right.isComplete && left.fields == right.fields && left.length == right.length
                && left.hasBadLength == right.hasBadLength
        }
    }

    private func read(_ lines: [String], known: KnownHead? = nil) -> Outcome {
        var head = ResponseHead(limits: .standard)
        head.known = known
        for line in lines {
            var bytes = Array((line + "\r\n").utf8)
            _ = bytes.withUnsafeMutableBytes { head.receive(UnsafeRawBufferPointer($0)) }
        }
        return Outcome(
            isComplete: head.isComplete, fields: head.headers.map { "\($0.name.text): \($0.value)" },
            length: head.content.length, hasBadLength: head.content.hasBadLength, known: head.known)
    }

    private let plain = ["HTTP/1.1 200 OK", "Server: nginx", "Date: today", "Content-Length: 3", "ETag: \"a\"", ""]

    @Test("a head that repeats another is that other one, and stays known")
    func repetition() throws {
        let first = read(plain)
        let known = try #require(first.known)
        let second = read(plain, known: known)
        #expect(second == first)
        #expect(second.known === known)
    }

    @Test("what differs is read anew and known from then on", arguments: 1..<5)
    func differences(line: Int) throws {
        let known = try #require(read(plain).known)
        for other in [["X: new"], ["X: new", "Y: more"], [], ["X: folded", " twice"]] {
            let lines = Array(plain[..<line]) + other + Array(plain[(line + 1)...])
            let outcome = read(lines, known: known)
            #expect(outcome == read(lines))
            #expect(outcome.known !== known)
            if let next = outcome.known { #expect(read(plain, known: next) == read(plain)) }
        }
    }

    @Test("an interim answer before it and a shorter or longer head change nothing")
    func shapes() throws {
        let known = try #require(read(plain).known)
        let interim = ["HTTP/1.1 103 Early Hints", "Link: </a>", ""]
        for lines in [
            interim + plain, Array(plain[..<3]) + [""], Array(plain[..<5]) + ["Vary: *", ""],
            ["HTTP/1.1 204 No Content", ""],
        ] {
            #expect(read(lines, known: known) == read(lines))
        }
    }

    @Test("a head of more than its share of bytes is not kept")
    func size() {
        let lines = ["HTTP/1.1 200 OK", "X-Long: " + String(repeating: "x", count: KnownHead.byteLimit), ""]
        #expect(read(lines).known == nil)
        #expect(read(lines).fields.count == 1)
    }

    @Test("any sequence of heads reads as each of them alone", arguments: UInt64(1)...40)
    func property(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pool = [
            "Server: nginx", "Date: a", "Date: b", "Content-Length: 1", "Content-Length: 2", "ETag: \"x\"", "Bad line",
            " folded", "X:", "Set-Cookie: a=1", "Set-Cookie: b=2", "X-Ünï: ü", "Transfer-Encoding: chunked",
        ]
        var known: KnownHead?
        var lines = plain
        for step in 0..<60 {
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let position = Int.random(in: 1..<lines.count, using: &random)
                let line = pool[Int.random(in: 0..<pool.count, using: &random)]
                switch Int.random(in: 0..<3, using: &random) {
                case 0: lines.insert(line, at: position)
                case 1 where position < lines.count - 1: lines.remove(at: position)
                case _ where position < lines.count - 1: lines[position] = line
                default: break
                }
            }
            let outcome = read(lines, known: known)
            #expect(outcome == read(lines), "seed \(seed), step \(step): \(lines)")
            known = outcome.known
        }
    }
}
#endif
