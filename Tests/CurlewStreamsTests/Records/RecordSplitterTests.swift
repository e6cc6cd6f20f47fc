// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Splitter of records", .timeLimit(.minutes(2)))
struct RecordSplitterTests {
    typealias Record = RecordSplitter.Record

    /// Bytes, and the records that they contain.
    struct Document: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let format: RecordSplitter.Format
        let bytes: [UInt8]
        let records: [Record]

        init(
            _ title: String, _ format: RecordSplitter.Format, _ text: String,
            _ records: [(Int, String, RecordSplitter.Problem?)]
        ) {
            testDescription = title
            self.format = format
            bytes = Array(text.utf8)
            self.records = records.map { Record(data: Data($0.1.utf8), number: $0.0, problem: $0.2) }
        }
    }

    static let formats: [RecordSplitter.Format] = [.lines, .sequence]

    static let documents: [Document] = [
        Document("nothing", .lines, "", []),
        Document("a line feed", .lines, "\n", []),
        Document(
            "lines", .lines, "{\"a\":1}\n[2]\n\"x\"\n",
            [(1, "{\"a\":1}", nil), (2, "[2]", nil), (3, "\"x\"", nil)]),
        Document("a last line without its end", .lines, "1\n23", [(1, "1", nil), (2, "23", nil)]),
        Document("CR LF", .lines, "1\r\n2\r\n3\r", [(1, "1", nil), (2, "2", nil), (3, "3", nil)]),
        Document("a CR inside a line", .lines, "1\r2\n", [(1, "1\r2", nil)]),
        Document("blank lines count", .lines, "\n\n1\n\r\n \t\r\n2\n\n", [(3, "1", nil), (6, "2", nil)]),
        Document("spaces around", .lines, " 1 \n", [(1, " 1 ", nil)]),
        Document("a byte order mark", .lines, "\u{FEFF}1\n\u{FEFF}2\n", [(1, "1", nil), (2, "\u{FEFF}2", nil)]),
        Document("a byte order mark alone", .lines, "\u{FEFF}\n1", [(2, "1", nil)]),
        Document("a separator is no mark in lines", .lines, "\u{1E}1\n", [(1, "\u{1E}1", nil)]),
        Document("nothing in a sequence", .sequence, "", []),
        Document("separators alone", .sequence, "\u{1E}\u{1E}\n\u{1E} \r\n", []),
        Document(
            "a sequence", .sequence, "\u{1E}{\"a\":1}\n\u{1E}[2]\n\u{1E}\"x\"\n\u{1E}4\n",
            [(1, "{\"a\":1}", nil), (2, "[2]", nil), (3, "\"x\"", nil), (4, "4", nil)]),
        Document(
            "texts of several lines", .sequence, "\u{1E}{\n \"a\": [\n1\n]\n}\n\u{1E}\n[\n2]\n",
            [(1, "{\n \"a\": [\n1\n]\n}", nil), (2, "[\n2]", nil)]),
        Document(
            "brackets in strings", .sequence, "\u{1E}[\"]\\\"]\",\n\"{\"\n]\n\u{1E}1\n",
            [(1, "[\"]\\\"]\",\n\"{\"\n]", nil), (2, "1", nil)]),
        Document(
            "texts without a line feed", .sequence, "\u{1E}{}\u{1E}[]\u{1E}\"a\"",
            [
                (1, "{}", nil), (2, "[]", nil), (3, "\"a\"", nil),
            ]),
        Document(
            "a truncated number (RFC 7464 §2.4)", .sequence, "\u{1E}123\u{1E}456\n\u{1E}7",
            [(1, "123", .truncated), (2, "456", nil), (3, "7", .truncated)]),
        Document(
            "truncated literals", .sequence, "\u{1E}true\u{1E}false \u{1E}null\t\u{1E}null",
            [(1, "true", .truncated), (2, "false ", nil), (3, "null\t", nil), (4, "null", .truncated)]),
        Document(
            "a truncated object ends at the separator", .sequence, "\u{1E}{\"a\":\n\u{1E}{}\n",
            [(1, "{\"a\":", nil), (2, "{}", nil)]),
        Document(
            "text before the first separator", .sequence, "{}\n\u{1E}{}\n", [(1, "{}", .unseparated), (2, "{}", nil)]),
        Document(
            "text after the end of a record", .sequence, "\u{1E}{}\n[]\n\u{1E}1\n",
            [(1, "{}", nil), (2, "[]", .unseparated), (3, "1", nil)]),
        Document("a byte order mark in a sequence", .sequence, "\u{FEFF}\n\u{1E}1\n", [(1, "1", nil)]),
        Document("CR LF in a sequence", .sequence, "\u{1E}{}\r\n\u{1E}1\r\n", [(1, "{}", nil), (2, "1", nil)]),
        Document("closing brackets alone", .sequence, "\u{1E}}]\n\u{1E}1\n", [(1, "}]", nil), (2, "1", nil)]),
    ]

    @Test("A document has these records, however it is divided at one or two bytes", arguments: documents)
    func divisions(_ document: Document) throws {
        let bytes = document.bytes
        #expect(try Self.split([bytes], document.format) == document.records)
        #expect(try Self.split(bytes.map { [$0] }, document.format) == document.records)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let records = try Self.split(
                    [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])], document.format)
                guard records == document.records else {
                    Issue.record("divided at \(first) and \(second): \(records)")
                    return
                }
            }
        }
    }

    @Test("Generated documents have the records of a plain implementation", arguments: formats)
    func fuzz(_ format: RecordSplitter.Format) throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("splitter of records, \(format): seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let parts = [
            "{", "}", "[", "]", "\"", "\\", "\n", "\r\n", " ", "\t", "1", "true", ",", "é", "\u{FEFF}", "\u{1E}",
            "\u{1E}", "\n\u{1E}", "{}\n\u{1E}", "\u{1E}[1]\n",
        ].map { Array($0.utf8) }
        for round in 0..<6000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...30, using: &random) { bytes += parts.randomElement(using: &random) ?? [] }
            let limit = Bool.random(using: &random) ? 1 << 20 : Int.random(in: 0...12, using: &random)
            let expected = PlainSplitter.records(bytes, format, limit: limit)
            for size in [bytes.count, 1, Int.random(in: 2...9, using: &random)] {
                let found = Self.outcome(Self.chunks(bytes, of: max(1, size)), format, limit: limit)
                guard found == expected else {
                    Issue.record("seed \(seed), round \(round), chunks of \(size), limit \(limit): \(bytes)")
                    return
                }
            }
        }
    }

    @Test("A record may have as many bytes as the limit, and not more", arguments: formats)
    func limit(_ format: RecordSplitter.Format) throws {
        let mark = format == .lines ? "" : "\u{1E}"
        let good = Array("\(mark)[12]\n".utf8)
        let bad = Array("\(mark)[123]\n\(mark)1\n".utf8)
        for size in 1...20 {
            let outcome = Self.outcome(Self.chunks(good + good + bad, of: size), format, limit: 4)
            #expect(outcome.records.map { String(decoding: $0.data, as: UTF8.self) } == ["[12]", "[12]"])
            #expect(outcome.failure == RecordSplitter.Failure(number: 3, limit: 4))
        }
        var splitter = RecordSplitter(format, limit: 4)
        splitter.push(Data(bad))
        #expect(throws: RecordSplitter.Failure(number: 1, limit: 4)) { try splitter.next() }
        #expect(throws: RecordSplitter.Failure(number: 1, limit: 4)) { try splitter.next() }
    }

    @Test("A text of a sequence is a record as soon as its line feed has arrived")
    func promptness() throws {
        var splitter = RecordSplitter(.sequence)
        splitter.push(Data("\u{1E}{\"a\":".utf8))
        #expect(try splitter.next() == nil)
        splitter.push(Data("[\n1]}\n".utf8))
        #expect(try splitter.next()?.data == Data("{\"a\":[\n1]}".utf8))
        splitter.push(Data("\u{1E}12".utf8))
        #expect(try splitter.next() == nil)
        splitter.push(Data("\n".utf8))
        #expect(try splitter.next() == Record(data: Data("12".utf8), number: 2))
    }

    @Test("A chunk that is pushed early is read after the rest of the one before", arguments: formats)
    func earlyPush(_ format: RecordSplitter.Format) throws {
        let mark = format == .lines ? "" : "\u{1E}"
        var splitter = RecordSplitter(format)
        splitter.push(Data("\(mark)1\n\(mark)2\n\(mark)3".utf8))
        #expect(try splitter.next()?.number == 1)
        splitter.push(Data("4\n".utf8))
        #expect(try splitter.next()?.number == 2)
        #expect(try splitter.next()?.data == Data("34".utf8))
    }

    static func chunks(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    static func split(_ chunks: [[UInt8]], _ format: RecordSplitter.Format) throws -> [Record] {
        let outcome = outcome(chunks, format, limit: 1 << 20)
        if let failure = outcome.failure { throw failure }
        return outcome.records
    }

    struct Outcome: Equatable {
        var records: [Record] = []
        var failure: RecordSplitter.Failure?
    }

    static func outcome(_ chunks: [[UInt8]], _ format: RecordSplitter.Format, limit: Int) -> Outcome {
        var splitter = RecordSplitter(format, limit: limit)
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

    static func records(
        _ bytes: [UInt8], _ format: RecordSplitter.Format, limit: Int
    ) -> RecordSplitterTests.Outcome {
        format == .lines ? lines(bytes, limit) : sequence(bytes, limit)
    }

    private static func lines(_ bytes: [UInt8], _ limit: Int) -> RecordSplitterTests.Outcome {
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

    private static func sequence(_ bytes: [UInt8], _ limit: Int) -> RecordSplitterTests.Outcome {
        var outcome = RecordSplitterTests.Outcome()
        var rest = bytes[...]
        var isFirst = true
        while true {
            let space = rest.prefix { white.contains($0) || $0 == 0x1E }
            rest = rest.dropFirst(space.count)
            if rest.isEmpty { return outcome }
            let most = rest.prefix { $0 != 0x1E }
            let end = most.indices.first { most[$0] == 0x0A && isClosed(most[..<$0]) }
            let whole = end.map { most[...$0] } ?? most
            rest = rest.dropFirst(whole.count)
            let text = whole.last == 0x0A ? whole.dropLast() : whole
            let number = outcome.records.count + 1
            guard text.count <= limit else {
                outcome.failure = RecordSplitter.Failure(number: number, limit: limit)
                return outcome
            }
            let content = content(text, isFirst: isFirst)
            isFirst = false
            guard !content.allSatisfy(white.contains) else { continue }
            let isScalar = !Array("{[\"".utf8).contains(whole.first ?? 0)
            let isTruncated = isScalar && !white.contains(whole.last ?? 0)
            let problem: RecordSplitter.Problem? =
                space.contains(0x1E) ? isTruncated ? .truncated : nil : .unseparated
            outcome.records.append(RecordSplitter.Record(data: Data(content), number: number, problem: problem))
        }
    }

    private static func content(_ bytes: ArraySlice<UInt8>, isFirst: Bool) -> ArraySlice<UInt8> {
        let content = bytes.last == 0x0D ? bytes.dropLast() : bytes
        return isFirst && content.starts(with: [0xEF, 0xBB, 0xBF]) ? content.dropFirst(3) : content
    }

    private static func isClosed(_ bytes: ArraySlice<UInt8>) -> Bool {
        var isInString = false
        var depth = 0
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if isInString, byte == UInt8(ascii: "\\") {
                index += 1
            } else if byte == UInt8(ascii: "\"") {
                isInString.toggle()
            } else if !isInString {
                depth += "{[".utf8.contains(byte) ? 1 : "}]".utf8.contains(byte) ? -1 : 0
            }
        }
        return !isInString && depth <= 0
    }
}
