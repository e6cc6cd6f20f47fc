// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

/// A document and what it is: events with joined content, or an error after them.
struct MultipartDocument: Sendable, CustomTestStringConvertible {
    typealias Event = MultipartParser.Event

    let testDescription: String
    let text: String
    var boundary = "b"
    let events: [Event]
    var error: MultipartParseError?

    init(
        _ description: String, _ text: String, boundary: String = "b", _ events: [Event],
        error: MultipartParseError? = nil
    ) {
        testDescription = description
        self.text = text
        self.boundary = boundary
        self.events = events
        self.error = error
    }

    static func part(_ headers: HTTPHeaders = [:], _ content: String = "") -> [Event] {
        [.head(headers)] + (content.isEmpty ? [] : [.body(Data(content.utf8))]) + [.partEnd]
    }

    static let valid = [
        MultipartDocument("no parts", "--b--", [.end]),
        MultipartDocument("one part", "--b\r\nA: 1\r\n\r\ntext\r\n--b--\r\n", part(["A": "1"], "text") + [.end]),
        MultipartDocument(
            "preamble, epilogue and padding",
            "see\r\n--c\r\n\n--b\r\n--b \t \r\n\r\nx\r\n--b\t\r\n\r\ny\r\n--b--  more\r\n--b\r\n",
            part([:], "x") + part([:], "y") + [.end]),
        MultipartDocument(
            "content that is almost a delimiter",
            "--b\r\n\r\n\r\n-\r\n--\r\n--a\r\r\n\r--b\n--b\n--b--\r\n --b\r\n--b--",
            part([:], "\r\n-\r\n--\r\n--a\r\r\n\r--b\n--b\n--b--\r\n --b") + [.end]),
        MultipartDocument(
            "a long boundary, and content of its beginnings",
            "--" + long + "\r\n\r\n\r\n--\(long.dropLast())\r\n--\(long)\r\n\r\n--\(long)--", boundary: long,
            part([:], "\r\n--\(long.dropLast())") + part() + [.end]),
        MultipartDocument(
            "content that is empty, with and without a line for it",
            "--b\r\nA: 1\r\n\r\n\r\n--b\r\nA: 2\r\n\r\n--b\r\n\r\n\r\n--b\r\n\r\n--b--",
            part(["A": "1"]) + part(["A": "2"]) + part() + part() + [.end]),
        MultipartDocument("content of one line end", "--b\r\n\r\n\r\n\r\n--b--", part([:], "\r\n") + [.end]),
        MultipartDocument(
            "a field on several lines", "--b\r\nA: 1;\r\n  x=2\r\n\ty\r\nB:\r\n 3\r\n\r\n--b--",
            part(["A": "1; x=2 y", "B": "3"]) + [.end]),
        MultipartDocument(
            "bytes outside ASCII", "--b\r\nA: \u{e4}\r\n\r\n\u{e4}\u{301}\0\r\n--b--",
            part(["A": "\u{e4}"], "\u{e4}\u{301}\0") + [.end]),
        MultipartDocument(
            "ranges",
            "--b\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/9\r\n\r\nab\r\n"
                + "--b\r\nContent-Type: text/plain\r\nContent-Range: bytes 4-5/9\r\n\r\nef\r\n--b--\r\n",
            part([.contentType: "text/plain", .contentRange: "bytes 0-1/9"], "ab")
                + part([.contentType: "text/plain", .contentRange: "bytes 4-5/9"], "ef") + [.end]),
    ]

    static let invalid = [
        MultipartDocument("nothing", "", [], error: .noDelimiter),
        MultipartDocument("another boundary", "--c\r\n\r\n\r\n--c--", [], error: .noDelimiter),
        MultipartDocument("a delimiter within a line", " --b\r\n\r\n", [], error: .noDelimiter),
        MultipartDocument("a delimiter behind a bare LF", "x\n--b\r\n\r\n", [], error: .noDelimiter),
        MultipartDocument("the end after a delimiter", "--b", [], error: .truncated),
        MultipartDocument("the end in the last delimiter", "--b-", [], error: .truncated),
        MultipartDocument("the end in a head", "--b\r\nA: 1\r\n", [], error: .truncated),
        MultipartDocument(
            "the end in content", "--b\r\n\r\nab", [.head([:]), .body(Data("ab".utf8))], error: .truncated),
        MultipartDocument(
            "the end between parts", "--b\r\n\r\nab\r\n--b\r\n", part([:], "ab"), error: .truncated),
        MultipartDocument("the beginning of another boundary", "--bx\r\n", [], error: .badDelimiter),
        MultipartDocument(
            "the same behind content", "--b\r\n\r\nab\r\n--bx", part([:], "ab"), error: .badDelimiter),
        MultipartDocument("one hyphen", "--b-\r\n", [], error: .badDelimiter),
        MultipartDocument("a bare LF after a delimiter", "--b\n\r\n", [], error: .badDelimiter),
        MultipartDocument("a bare CR after a delimiter", "--b\r \r\n", [], error: .badDelimiter),
        MultipartDocument("a bare LF in a head", "--b\r\nA: 1\n\r\n\r\n", [], error: .badField(.bareLineFeed)),
        MultipartDocument("a bare CR in a head", "--b\r\nA: 1\rB: 2\r\n\r\n", [], error: .badField(.badFieldValue)),
        MultipartDocument(
            "a head that begins with a space", "--b\r\n A: 1\r\n\r\n", [], error: .badField(.foldedField)),
        MultipartDocument("a field without a colon", "--b\r\nA\r\n\r\n", [], error: .badField(.badFieldName)),
        MultipartDocument("a delimiter in a head", "--b\r\n--b--\r\n\r\n", [], error: .badField(.badFieldName)),
        MultipartDocument("a name that is no token", "--b\r\nA : 1\r\n\r\n", [], error: .badField(.badFieldName)),
        MultipartDocument(
            "a head of more than 100 bytes", "--b\r\nA: \(String(repeating: "x", count: 100))\r\n\r\n", [],
            error: .headTooLarge),
        MultipartDocument(
            "a line of padding without end", "--b\(String(repeating: " ", count: 101))", [], error: .headTooLarge),
        MultipartDocument(
            "a field of many lines", "--b\r\nA: 1\r\n\(String(repeating: " 2\r\n", count: 40))\r\n", [],
            error: .headTooLarge),
        MultipartDocument(
            "more than 3 fields", "--b\r\nA: 1\r\nA: 2\r\nA: 3\r\nA: 4\r\n\r\n", [], error: .tooManyFields),
        MultipartDocument(
            "more than 4 parts", String(repeating: "--b\r\n\r\n\r\n", count: 5) + "--b--",
            part() + part() + part() + part(), error: .tooManyParts),
        MultipartDocument(
            "a preamble of more than 200 bytes", String(repeating: "\r\n--", count: 60) + "\r\n--b--", [],
            error: .preambleTooLarge),
    ]

    private static let long = String(repeating: "'()+_,-./:=?x", count: 5) + "12345"
}

@Suite(.timeLimit(.minutes(1)))
struct MultipartParserTests {
    typealias Document = MultipartDocument

    private static let limits = {
        var limits = MultipartParser.Limits()
        limits.headBytes = 100
        limits.fields = 3
        limits.parts = 4
        limits.preambleBytes = 200
        return limits
    }()

    private struct Outcome: Equatable {
        var events: [MultipartParser.Event] = []
        var error: MultipartParseError?

        mutating func add(_ event: MultipartParser.Event) {
            if case .body(let more) = event, case .body(let data)? = events.last {
                events[events.count - 1] = .body(data + more)
            } else {
                events.append(event)
            }
        }
    }

    private static func parse(_ chunks: some Sequence<Data>, _ boundary: String) -> Outcome {
        var outcome = Outcome()
        do throws(MultipartParseError) {
            var parser = try MultipartParser(boundary: boundary, limits: limits)
            for chunk in chunks {
                parser.receive(chunk)
                while let event = try parser.next() {
                    if case .body(let data) = event { #expect(!data.isEmpty && data.startIndex == 0) }
                    outcome.add(event)
                }
            }
            try parser.finish()
        } catch {
            outcome.error = error
        }
        return outcome
    }

    @Test("A document has the same events, however it is split", arguments: Document.valid + Document.invalid)
    func splits(document: Document) {
        let data = Data(document.text.utf8)
        let wanted = Outcome(events: document.events, error: document.error)
        #expect(Self.parse([data], document.boundary) == wanted)
        #expect(Self.parse(data.map { Data([$0]) }, document.boundary) == wanted)
        for end in data.indices {
            let halves = [data[..<end], data[end...]]
            #expect(Self.parse(halves, document.boundary) == wanted, "split at \(end)")
            for middle in stride(from: 0, to: end, by: 3) {
                let thirds = [data[..<middle], data[middle..<end], data[end...]]
                if Self.parse(thirds, document.boundary) != wanted { Issue.record("split at \(middle) and \(end)") }
            }
        }
    }

    @Test("A document that ends anywhere is truncated, and never looks complete", arguments: Document.valid)
    func truncations(document: Document) throws {
        let data = Data(document.text.utf8)
        let mark = Data("--\(document.boundary)--".utf8)
        let end = try #require(data.indices.last { data[..<($0 + 1)].suffix(mark.count) == mark }) + 1
        for length in 0..<end {
            let outcome = Self.parse([data.prefix(length)], document.boundary)
            // The document with an almost complete delimiter in its content has one that is complete before its end.
            if outcome.events.last == .end { continue }
            #expect(outcome.error == .truncated || outcome.error == .noDelimiter, "\(length) bytes")
        }
        #expect(Self.parse([data.prefix(end)], document.boundary).error == nil)
    }

    @Test("An error stays, and further bytes change nothing")
    func failure() throws {
        var parser = try MultipartParser(boundary: "b")
        parser.receive(Data("--bx".utf8))
        for _ in 0..<3 {
            #expect(throws: MultipartParseError.badDelimiter) { try parser.next() }
            parser.receive(Data("\r\n--b\r\n\r\n".utf8))
        }
        #expect(throws: MultipartParseError.badDelimiter) { try parser.finish() }
    }

    @Test(
        "A boundary is 1 to 70 printable characters",
        arguments: ["", " ", "b ", "a\r\nb", "a\rb", "\u{e4}", "a\0", String(repeating: "x", count: 71)])
    func boundaries(boundary: String) {
        #expect(throws: MultipartParseError.badBoundary) { try MultipartParser(boundary: boundary) }
    }

    @Test("A boundary may have a space, and characters that only some servers use", arguments: ["a b", "=_<@!>;", "b"])
    func lenient(boundary: String) {
        #expect(Self.parse([Data("--\(boundary)\r\n\r\n--\(boundary)--".utf8)], boundary).error == nil)
    }

    @Test("A chunk without a delimiter is passed on without copying")
    func copies() throws {
        var parser = try MultipartParser(boundary: "b")
        parser.receive(Data("--b\r\n\r\n".utf8))
        #expect(try parser.next() == .head([:]))
        #expect(try parser.next() == nil)
        let chunk = Data(repeating: 0x41, count: 100_000)
        parser.receive(chunk)
        guard case .body(let content)? = try parser.next() else {
            Issue.record("no content")
            return
        }
        let same = content.withUnsafeBytes { left in chunk.withUnsafeBytes { left.baseAddress == $0.baseAddress } }
        #expect(same && content.count == chunk.count)
    }

    @Test("Random documents, broken and split at random, crash nothing and parse as in one piece")
    func fuzz() {
        let seed = UInt64.random(in: 0...(.max))
        print("MultipartParserTests seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "--b", "--b--", "\r\n", "\r", "\n", "-", "--", "b", "A: 1", "A", ":", " ", "\t", "\r\n\r\n", "\r\n--b",
            "\r\n--b\r\n\r\n", "text", "\0", "\u{e4}", "\r\n--b--",
        ]
        for _ in 0..<3000 {
            var text = Bool.random(using: &random) ? "--b\r\n" : ""
            for _ in 0..<Int.random(in: 0...20, using: &random) { text += pieces.randomElement(using: &random) ?? "" }
            let data = Data(text.utf8)
            var chunks: [Data] = []
            var rest = data[...]
            while !rest.isEmpty {
                let count = Int.random(in: 0...7, using: &random)
                chunks.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(Self.parse(chunks, "b") == Self.parse([data], "b"), "seed \(seed): \(text.debugDescription)")
        }
    }
}
