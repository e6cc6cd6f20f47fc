// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// What is wrong with a document, and where.
@Suite(.timeLimit(.minutes(1)))
struct SyntaxErrorTests {
    private struct Ignored: Decodable {
        init(from decoder: any Decoder) throws {}
    }

    private func mistake(in data: Data) throws -> FastJSONDecoder.SyntaxError? {
        do {
            _ = try FastJSONDecoder().decode(Ignored.self, from: data)
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return try #require(context.underlyingError as? FastJSONDecoder.SyntaxError)
        }
    }

    private static let complete = Array(
        #"{"a":[1,-2.5e+3,0.5,"x\u00e9\ud83d\ude00é漢😀\n",true,false,null,{}],"b_c":"0123456789abcdef"}"#.utf8)

    /// More bytes would have made it JSON: every such document says so, at its end.
    @Test
    func aDocumentThatWasCutOffSaysSo() throws {
        for length in 0..<Self.complete.count {
            let error = try #require(try mistake(in: Data(Self.complete[..<length])), "\(length) bytes")
            #expect(error.reason == .unexpectedEnd && error.offset == length, "\(length) bytes: \(error)")
        }
    }

    @Test(arguments: [
        "[\"\\u12", "[\"\\", "[\"\\u", "[\"\\ud83d", "[\"\\ud83d\\", "[\"\\ud83d\\u", "[\"\\ud83d\\ud",
        "[\"\\ud83d\\ude0",
        "[1.", "[1e", "[1e+", "[-", "-", "1.", "tru", "[nul", "{\"a\"", "{\"a\":", "[1,", "{", "\"", "", " ",
    ])
    func anIncompleteDocumentIsCutOff(text: String) throws {
        let error = try mistake(in: Data(text.utf8))
        #expect(error?.reason == .unexpectedEnd && error?.offset == text.utf8.count)
    }

    @Test(arguments: [
        ("[\"\\udc00", 2, FastJSONDecoder.SyntaxError.Reason.invalidEscape), ("[\"\\ud83d\\u00", 2, .invalidEscape),
        ("[\"\\ud83dx", 2, .invalidEscape), ("[\"\\u12\"]", 2, .invalidEscape), ("[\"\\udc", 2, .invalidEscape),
        ("[\"ab\\x\"]", 4, .invalidEscape), ("[1.]", 3, .invalidNumber), ("[1.e5]", 3, .invalidNumber),
        ("[-]", 2, .invalidNumber), ("[1e]", 3, .invalidNumber), ("[.5]", 1, .invalidNumber),
        ("[+1]", 1, .invalidNumber),
        ("[01]", 2, .invalidNumber), ("[.]", 1, .unexpectedByte), ("[trux]", 4, .unexpectedByte),
        ("[1 2]", 3, .unexpectedByte), ("{\"a\" 1}", 5, .unexpectedByte), ("1 2", 2, .trailingBytes),
        ("[\"a\u{1}\"]", 3, .controlCharacter), ("[1,]", 3, .unexpectedByte), ("[\u{0}]", 1, .unexpectedByte),
    ])
    func otherMistakesHaveTheirKinds(text: String, offset: Int, reason: FastJSONDecoder.SyntaxError.Reason) throws {
        let error = try mistake(in: Data(text.utf8))
        #expect(error?.reason == reason && error?.offset == offset, "\(String(describing: error))")
    }

    /// The first byte that is no text, wherever the string begins.
    @Test(arguments: [0, 1, 7, 8, 9, 40, 1_000])
    func invalidTextIsFoundWhereItIs(before: Int) throws {
        let padding = [UInt8](repeating: 0x61, count: before)
        for (bytes, place) in [
            ([0xFF], 0), ([0xC3, 0xA9, 0xFF], 2), ([0xC3, 0x28], 0), ([0xE2, 0x82, 0xAC, 0x80], 3),
            ([0xED, 0xA0, 0x80], 0),
            ([0xF4, 0x90, 0x80, 0x80], 0), ([0xC3, 0xA9, 0xC0, 0x80], 2),
        ] as [([UInt8], Int)] {
            for end in ["\"]", "", "\\q\"]", "\u{1}\"]"] {
                let data = Data(Array("[\"".utf8) + padding + bytes + Array(end.utf8))
                let error = try mistake(in: data)
                let isCut = end.isEmpty && bytes == [0xC3]
                #expect(error?.reason == .invalidText && error?.offset == 2 + before + place, "\(bytes) \(end)")
                #expect(!isCut)
            }
        }
        // In the middle of a character.
        for bytes in [[0xC3], [0xE2, 0x82], [0xE2], [0xF0, 0x9F], [0xF0, 0x9F, 0x98]] as [[UInt8]] {
            let data = Data(Array("[\"".utf8) + padding + bytes)
            let error = try mistake(in: data)
            #expect(error?.reason == .unexpectedEnd, "\(bytes)")
        }
    }

    @Test(arguments: [
        ("[\n\n1 x", 3, 3), ("[\r\r1 x", 3, 3), ("[\r\n\r\n1 x", 3, 3), ("[\n\r1 x", 3, 3), ("[ 1 x", 1, 5),
        ("\rx", 2, 1),
        ("[\"é\"\n,x", 2, 2),
    ])
    func linesEndWithAnyOfThree(text: String, line: Int, column: Int) throws {
        let error = try mistake(in: Data(text.utf8))
        #expect(error?.line == line && error?.column == column, "\(String(describing: error))")
    }

    /// Every byte of a document replaced by others: never an offset outside of it, and the line that belongs to the
    /// offset.
    @Test
    func positionsAreInsideOfTheDocument() throws {
        for index in Self.complete.indices {
            for byte in [0, 0x0A, 0x0D, 0x22, 0x2C, 0x5C, 0x5D, 0x7D, 0x80, 0xFF] as [UInt8] {
                var bytes = Self.complete
                bytes[index] = byte
                guard let error = try mistake(in: Data(bytes)) else { continue }
                #expect(0...bytes.count ~= error.offset, "\(index) \(byte)")
                #expect(error.line >= 1 && 1...(error.offset + 1) ~= error.column, "\(index) \(byte)")
            }
        }
    }
}
