// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP
@testable import CurlewStreams

@Suite(.timeLimit(.minutes(2)))
struct RecordSplitterTests {
    typealias Record = RecordSplitter.Record

    /// Bytes, and the records that they contain.
    struct Document: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let records: [Record]

        init(
            _ title: String, _ text: String, _ records: [(Int, String)]
        ) {
            testDescription = title
            bytes = Array(text.utf8)
            self.records = records.map { Record(data: Data($0.1.utf8), number: $0.0) }
        }
    }

    static let documents: [Document] = [
        Document("nothing", "", []),
        Document("a line feed", "\n", []),
        Document(
            "lines", "{\"a\":1}\n[2]\n\"x\"\n",
            [(1, "{\"a\":1}"), (2, "[2]"), (3, "\"x\"")]),
        Document("a last line without its end", "1\n23", [(1, "1"), (2, "23")]),
        Document("CR LF", "1\r\n2\r\n3\r", [(1, "1"), (2, "2"), (3, "3")]),
        Document("a CR inside a line", "1\r2\n", [(1, "1\r2")]),
        Document("blank lines count", "\n\n1\n\r\n \t\r\n2\n\n", [(3, "1"), (6, "2")]),
        Document("spaces around", " 1 \n", [(1, " 1 ")]),
        Document("a byte order mark", "\u{FEFF}1\n\u{FEFF}2\n", [(1, "1"), (2, "\u{FEFF}2")]),
        Document("a byte order mark alone", "\u{FEFF}\n1", [(2, "1")]),
        Document("a separator is no mark in lines", "\u{1E}1\n", [(1, "\u{1E}1")]),
    ]

    @Test("A document has these records, however it is divided at one or two bytes", arguments: documents)
    func divisions(_ document: Document) throws {
        let bytes = document.bytes
        #expect(try Self.split([bytes]) == document.records)
        #expect(try Self.split(bytes.map { [$0] }) == document.records)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let records = try Self.split(
                    [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])])
                guard records == document.records else {
                    Issue.record("divided at \(first) and \(second): \(records)")
                    return
                }
            }
        }
    }

    @Test("Generated documents have the records of a plain implementation")
    func fuzz() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("splitter of records: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let parts = [
            "{", "}", "[", "]", "\"", "\\", "\n", "\r\n", " ", "\t", "1", "true", ",", "é", "\u{FEFF}", "\u{1E}",
            "\u{1E}", "\n\u{1E}", "{}\n\u{1E}", "\u{1E}[1]\n",
        ].map { Array($0.utf8) }
        for round in 0..<6000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...30, using: &random) { bytes += parts.randomElement(using: &random) ?? [] }
            let limit = Bool.random(using: &random) ? 1 << 20 : Int.random(in: 0...12, using: &random)
            let expected = PlainSplitter.records(bytes, limit: limit)
            for size in [bytes.count, 1, Int.random(in: 2...9, using: &random)] {
                let found = Self.outcome(Self.chunks(bytes, of: max(1, size)), limit: limit)
                guard found == expected else {
                    Issue.record("seed \(seed), round \(round), chunks of \(size), limit \(limit): \(bytes)")
                    return
                }
            }
        }
    }

    @Test("A record may have as many bytes as the limit, and not more")
    func limit() throws {
        let good = Array("[12]\n".utf8)
        let bad = Array("[123]\n1\n".utf8)
        for size in 1...20 {
            let outcome = Self.outcome(Self.chunks(good + good + bad, of: size), limit: 4)
            #expect(outcome.records.map { String(decoding: $0.data, as: UTF8.self) } == ["[12]", "[12]"])
            #expect(outcome.failure == RecordSplitter.Failure(number: 3, limit: 4))
        }
        var splitter = RecordSplitter(limit: 4)
        splitter.push(Data(bad))
        #expect(throws: RecordSplitter.Failure(number: 1, limit: 4)) { try splitter.next() }
        #expect(throws: RecordSplitter.Failure(number: 1, limit: 4)) { try splitter.next() }
    }

    @Test("A chunk that is pushed early is read after the rest of the one before")
    func earlyPush() throws {
        var splitter = RecordSplitter()
        splitter.push(Data("1\n2\n3".utf8))
        #expect(try splitter.next()?.number == 1)
        splitter.push(Data("4\n".utf8))
        #expect(try splitter.next()?.number == 2)
        #expect(try splitter.next()?.data == Data("34".utf8))
    }

    static func chunks(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    static func split(_ chunks: [[UInt8]]) throws -> [Record] {
        let outcome = outcome(chunks, limit: 1 << 20)
        if let failure = outcome.failure { throw failure }
        return outcome.records
    }

    struct Outcome: Equatable {
        var records: [Record] = []
        var failure: RecordSplitter.Failure?
    }

    static func outcome(_ chunks: [[UInt8]], limit: Int) -> Outcome {
        var splitter = RecordSplitter(limit: limit)
        var outcome = Outcome()
        do throws(RecordSplitter.Failure) {
            for (index, chunk) in chunks.enumerated() {
                // Slices whose first index is not zero, as transports deliver them.
                let offset = index % 3
                splitter.push((Data(repeating: 0x0A, count: offset) + chunk).dropFirst(offset))
                while let record = try splitter.next() { outcome.records.append(record) }
            }
            if let record = try splitter.finish() { outcome.records.append(record) }
        } catch {
            outcome.failure = error
        }
        return outcome
    }
}

/// The rules, one after the other, on all bytes at once.
private enum PlainSplitter {
    private static let white: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]

    static func records(_ bytes: [UInt8], limit: Int) -> RecordSplitterTests.Outcome {
        var outcome = RecordSplitterTests.Outcome()
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        for (index, line) in lines.enumerated() {
            guard line.count <= limit else {
                outcome.failure = RecordSplitter.Failure(number: index + 1, limit: limit)
                return outcome
            }
            let content = content(line, isFirst: index == 0)
            if !content.allSatisfy(white.contains) {
                outcome.records.append(RecordSplitter.Record(data: Data(content), number: index + 1))
            }
        }
        return outcome
    }

    private static func content(_ bytes: ArraySlice<UInt8>, isFirst: Bool) -> ArraySlice<UInt8> {
        let content = bytes.last == 0x0D ? bytes.dropLast() : bytes
        return isFirst && content.starts(with: [0xEF, 0xBB, 0xBF]) ? content.dropFirst(3) : content
    }
}
