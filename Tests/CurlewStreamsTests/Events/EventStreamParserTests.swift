// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

@Suite(.timeLimit(.minutes(1)))
struct EventStreamParserTests {
    typealias Event = EventStreamParser.Event

    /// A document and the events that the standard requires.
    struct Document: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let items: [Event]

        init(_ title: String, _ text: String, _ items: [Event]) {
            self.init(title, Array(text.utf8), items)
        }

        init(_ title: String, _ bytes: [UInt8], _ items: [Event]) {
            testDescription = title
            self.bytes = bytes
            self.items = items
        }
    }

    static func event(
        _ data: String, _ name: String = "message", id: String = "", retry: Int64? = nil
    ) -> Event {
        Event(name: name, data: data, id: id, retry: retry)
    }

    static let documents: [Document] = [
        Document(
            "three messages (standard)",
            "data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\n"
                + "data: This is the third message.\n\n",
            [
                event("This is the first message."), event("This is the second message, it\nhas two lines."),
                event("This is the third message."),
            ]),
        Document(
            "named events (standard)", "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
            [event("73857293", "add"), event("2153", "remove")]),
        Document("stock ticker (standard)", "data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
        Document(
            "four blocks (standard)",
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [event("first event", id: "1"), event("second event"), event(" third event")]),
        Document(
            "empty data (standard): the last block is incomplete", "data\n\ndata\ndata\n\ndata:",
            [event(""), event("\n")]),
        Document(
            "the space after the colon (standard)", "data:test\n\ndata: test\n\n", [event("test"), event("test")]),
        Document(
            "CR, LF and CR LF", "data: a\rdata: b\r\ndata: c\n\r\ndata: d\r\rdata: e\r\n\r\n",
            [event("a\nb\nc"), event("d"), event("e")]),
        Document("a byte order mark", "\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n", [event("a"), event("c")]),
        Document("a byte order mark before a blank line", "\u{FEFF}\n\ndata: a\n\n", [event("a")]),
        Document("two byte order marks", "\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [event("b")]),
        Document(
            "an ID with NUL is ignored", "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n",
            [event("a", id: "1"), event("b", id: "1")]),
        Document("the ID persists, also without data", "id: 7\n\ndata: a\n\n", [event("a", id: "7")]),
        Document(
            "retry takes digits only",
            "retry: 10\ndata: a\n\nretry: 1x\ndata: b\n\nretry: -1\ndata: c\n\nretry\ndata: d\n\nretry:  5\ndata: e\n\n"
                + "retry: 99999999999999999999\ndata: f\n\nretry: 007\ndata: g\n\n",
            [
                event("a", retry: 10), event("b"), event("c"), event("d"), event("e"),
                event("f", retry: .max), event("g", retry: 7),
            ]),
        Document("an event without data", "event: a\n\ndata: b\n\n", [event("b")]),
        Document("an empty name", "event: a\nevent:\ndata: b\n\n", [event("b")]),
        Document(
            "fields that do not exist", "Data: a\ndata : b\n data: c\ndat: d\ndatas: e\nfoo\ndata: f\n\n", [event("f")]),
        Document("comments", ":\n:a\n: b\n:  c\ndata: d:e\n\n", [event("d:e")]),
        Document(
            "characters of several bytes", "event: é\ndata: 日本語 🦜\nid: ü\n\n",
            [
                event("日本語 🦜", "é", id: "ü")
            ]),
        Document(
            "invalid UTF-8", Array("data: a".utf8) + [0xFF, 0x62, 0xF0, 0x9F] + Array("\n\n".utf8),
            [event("a\u{FFFD}b\u{FFFD}")]),
        Document("a half byte order mark", [0xEF, 0xBB] + Array("data: a\n\ndata: b\n\n".utf8), [event("b")]),
        Document("nothing", "", []),
        Document("an event without its end", "data: a\n\ndata: b\n", [event("a")]),
    ]

    @Test("A document has the items that the standard requires", arguments: documents)
    func standard(_ document: Document) throws {
        #expect(try Self.parse([document.bytes]) == document.items)
    }

    @Test("Every division of a document at one or two bytes has the same items", arguments: documents)
    func divisions(_ document: Document) throws {
        let bytes = document.bytes
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let items = try Self.parse([
                    Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...]),
                ])
                guard items == document.items else {
                    Issue.record("divided at \(first) and \(second): \(items)")
                    return
                }
            }
        }
        #expect(try Self.parse(bytes.map { [$0] }) == document.items)
    }

    @Test("Generated documents have the items of a plain implementation of the standard")
    func fuzz() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let parts: [[UInt8]] =
            [
                "data", "event", "id", "retry", ":", ": ", " ", "\n", "\r", "\r\n", "\n\n", "12", "x", "\0", "\u{FEFF}",
                "é", "🦜",
            ]
            .map { Array($0.utf8) } + [[0xFF], [0xE2, 0x82], [0x80]]
        for round in 0..<4000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...40, using: &random) { bytes += parts.randomElement(using: &random) ?? [] }
            var chunks: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...max(1, min(9, rest.count)), using: &random)
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let items = try Self.parse(chunks)
            let expected = PlainParser.items(bytes)
            guard items == expected else {
                Issue.record("seed \(seed), round \(round): \(bytes)\n\(items)\n\(expected)")
                return
            }
        }
    }

    @Test("A line beyond the limit fails however it is divided, after the events before it")
    func lineLimit() throws {
        let good = Array("data: 1234\n\n".utf8)
        for size in [1, 3, 100] {
            let chunks = Self.chunks(good + Array(": the comment\n\n".utf8), of: size)
            var parser = EventStreamParser(limit: 4)
            var items: [Event] = []
            #expect(throws: EventStreamParser.Failure.line) {
                for chunk in chunks {
                    parser.push(Data(chunk))
                    while let item = try parser.next() { items.append(item) }
                }
            }
            #expect(items == [Self.event("1234")])
            #expect(throws: EventStreamParser.Failure.line) { try parser.next() }
        }
    }

    @Test("The data of an event may have as many bytes as the limit, and not more")
    func eventLimit() throws {
        var parser = EventStreamParser(limit: 5)
        parser.push(Data("data: 12\ndata: 34\n\n".utf8))
        #expect(try parser.next() == Self.event("12\n34"))
        parser.push(Data("data: 12\ndata: 345\n\n".utf8))
        #expect(throws: EventStreamParser.Failure.event) { try parser.next() }
    }

    @Test("The last event ID is that of the last complete event, and of the parser before")
    func lastEventID() throws {
        var parser = EventStreamParser(lastEventID: "4")
        parser.push(Data("data: a\n\nid: 5\ndata: b\n".utf8))
        #expect(try parser.next() == Self.event("a", id: "4"))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "4")
        parser.push(Data("\n".utf8))
        #expect(try parser.next() == Self.event("b", id: "5"))
        #expect(parser.lastEventID == "5")
    }

    @Test("A chunk that is pushed early is parsed after the rest of the one before")
    func earlyPush() throws {
        var parser = EventStreamParser()
        parser.push(Data("data: a\n\ndata: b".utf8))
        #expect(try parser.next() == Self.event("a"))
        parser.push(Data("c\n\n".utf8))
        #expect(try parser.next() == Self.event("bc"))
    }

    static func chunks(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    static func parse(_ chunks: [[UInt8]]) throws -> [Event] {
        var parser = EventStreamParser()
        var items: [Event] = []
        for chunk in chunks {
            parser.push(Data(chunk))
            while let item = try parser.next() { items.append(item) }
        }
        return items
    }
}

/// The standard, word for word: it decodes the whole stream and then works on characters.
private enum PlainParser {
    static func items(_ bytes: [UInt8]) -> [EventStreamParser.Event] {
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        var items: [EventStreamParser.Event] = []
        var (data, name, id) = ("", "", "")
        var retry: Int64?
        for line in lines(scalars) {
            if line.isEmpty {
                if !data.isEmpty {
                    data.unicodeScalars.removeLast()
                    items.append(
                        EventStreamParserTests.event(data, name.isEmpty ? "message" : name, id: id, retry: retry))
                }
                (data, name, retry) = ("", "", nil)
                continue
            }
            let colon = line.firstIndex(of: ":")
            let field = text(line[..<(colon ?? line.endIndex)])
            var value = line[(colon.map { $0 + 1 } ?? line.endIndex)...]
            if value.first == " " { value = value.dropFirst() }
            switch field {
            case "event": name = text(value)
            case "data":
                // Appended as scalars: a CR LF would be one character.
                data.unicodeScalars.append(contentsOf: value)
                data.unicodeScalars.append("\n")
            case "id" where !value.contains("\0"): id = text(value)
            case "retry" where !value.isEmpty && value.allSatisfy({ ("0"..."9").contains($0) }):
                retry = Int64(text(value)) ?? .max
            default: break
            }
        }
        return items
    }

    private static func lines(_ scalars: [Unicode.Scalar]) -> [ArraySlice<Unicode.Scalar>] {
        var lines: [ArraySlice<Unicode.Scalar>] = []
        var start = 0
        var index = 0
        while index < scalars.count {
            defer { index += 1 }
            guard scalars[index] == "\n" || scalars[index] == "\r" else { continue }
            lines.append(scalars[start..<index])
            if scalars[index] == "\r", index + 1 < scalars.count, scalars[index + 1] == "\n" { index += 1 }
            start = index + 1
        }
        return lines
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }
}
