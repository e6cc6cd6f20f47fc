// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

/// Reading a head with the fields of earlier ones at hand gives what reading it alone gives.
@Suite(.timeLimit(.minutes(1)))
struct FieldCacheTests {
    private func read(_ lines: [String], _ known: FieldCache? = nil) -> ResponseRun {
        ResponseRun(Array(lines.map { $0 + "\r\n" }.joined().utf8), known: known)
    }

    /// How often each line of a head is parsed when it comes again and again.
    private func parses(_ line: String, _ times: Int, in cache: FieldCache) -> Int {
        var count = 0
        let bytes = Array(line.utf8)
        for _ in 0..<times {
            _ = bytes.withUnsafeBytes { bytes in
                cache.field(bytes) { _ in
                    count += 1
                    return HTTPField(name: HTTPField.Name(String(line.prefix { $0 != ":" })), value: "v")
                }
            }
        }
        return count
    }

    @Test("A line is parsed twice, and known from then on")
    func repetition() {
        let cache = FieldCache()
        #expect(parses("Server: nginx", 5, in: cache) == 2)
        #expect(parses("Server: nginx", 5, in: cache) == 0)
    }

    @Test("A line that is long, or a secret, is parsed each time")
    func notKept() {
        let cache = FieldCache()
        #expect(parses("X-Long: " + String(repeating: "x", count: 256), 5, in: cache) == 5)
        #expect(parses("Set-Cookie: a=b", 5, in: cache) == 5)
        #expect(parses("X-Auth-Token: a", 5, in: cache) == 5)
    }

    @Test("Any sequence of heads reads as each of them alone", arguments: UInt64(1)...40)
    func property(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pool = [
            "Server: nginx", "Date: a", "Date: b", "ETag: \"x\"", "X:", "Set-Cookie: a=1", "Set-Cookie: b=2", "X: ü",
            "X: one\r\n two", "Connection: close",
        ]
        let cache = FieldCache()
        var lines = ["HTTP/1.1 200 OK", "Server: nginx", "Date: today", "Content-Length: 0", "ETag: \"a\"", ""]
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
            #expect(read(lines, cache) == read(lines), "seed \(seed), step \(step): \(lines)")
        }
    }

    /// Lines of two hosts whose hashes name one entry must not be taken for each other: thousands of them share 256.
    @Test("Many different lines keep their own fields")
    func collisions() {
        let cache = FieldCache()
        for _ in 0..<3 {
            for number in 0..<5000 {
                let run = read(["HTTP/1.1 200 OK", "X-\(number): \(number * 7)", ""], cache)
                #expect(run.events.first?.hasSuffix(" untilClose|X-\(number): \(number * 7)") == true)
            }
        }
    }
}
