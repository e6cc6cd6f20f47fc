// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// The grammar of RFC 8259, rule by rule. Nothing reads the values, so that it is the scanner that refuses.
@Suite(.timeLimit(.minutes(1)))
struct GrammarTests {
    /// Reads nothing.
    private struct Ignored: Decodable, Equatable {
        init(from decoder: any Decoder) throws {}
    }

    @Test(arguments: [
        // §2: values, white space
        "null", "true", "false", " \t\r\n1 \t\r\n", "[]", "{}", "[ ]", "{ }", "[[]]", "[{}]", "{\"a\":{}}", "\"\"", "0",
        // §4: objects
        "{\"a\":1}", "{ \"a\" : 1 , \"b\" : 2 }", "{\"\":0}", "{\"a\":1,\"a\":2}", "{\"\\u0000\":1}",
        "{\"a\":[],\"b\":{}}",
        // §5: arrays
        "[1]", "[1,2]", "[ 1 , 2 ]", "[null,true,\"x\",1.5,[],{}]", "[[[[[]]]]]",
        // §6: numbers
        "-0", "-1", "10", "0.5", "-0.5", "1.25", "1e1", "1E1", "1e+1", "1e-1", "1.5e10", "0e0", "0.0e-0", "123456789",
        "1e9999", "0.000000000000000000000000000000000000001", "[0,-0,0.0]", "100000000000000000000000000",
        // §7: strings
        "\"abc\"", "\"\\\"\"", "\"\\\\\"", "\"\\/\"", "\"\\b\\f\\n\\r\\t\"", "\"\\u0041\"", "\"\\uABCD\\uabcd\"",
        "\"\\ud834\\udd1e\"", "\"\\uDBFF\\uDFFF\"", "\"\\u0000\"", "\"\u{7F}\"", "\"é漢😀\"", "\"\u{2028}\u{2029}\"",
        "\"'\"",
        "\"\\\\u0041\"", "\"\u{FFFE}\u{FFFF}\"", "\"[{,:}]\"", "\"\u{10FFFF}\"", "\"\\ufffe\"", "\"  \"",
    ])
    func validDocumentsAreAccepted(text: String) throws {
        _ = try FastJSONDecoder().decode(Ignored.self, from: Data(text.utf8))
    }

    @Test(arguments: [
        // §2
        "", " ", "nul", "tru", "fals", "nulL", "True", "NULL", "nullx", "1 2", "[]]", "[] []", "{}}", "]", "}", ",",
        ":",
        "\u{C}1", "\u{B}1", "\u{A0}1", "\u{2060}1", "# 1", "// c\n1", "/* c */1", "undefined", "'a'", "a",
        "\u{FEFF}\u{FEFF}1",
        // §4
        "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\" 1}", "{\"a\",1}",
        "{1:1}",
        "{a:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":1;\"b\":2}", "{\"a\"::1}", "{\"a\":1,,\"b\":2}", "{:1}",
        "{null:1}",
        "{\"a\":1]", "{[]:1}", "{\"a\":}", "{\"a\":1}{", "{\"a\":1,\"b\"}", "{\"a\":1,2}", "{true}", "{\"a", "{\"a\\",
        // §5
        "[", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1;2]", "[1}", "[1:2]", "[[]", "[\"a\"", "[\"a\",",
        "[1,\n", "[-]", "[nul]", "[\"\": 1]", "[\u{0}]", "[1\u{0}]", "[*]", "[1,]]", "[a]", "[3[4]]", "[\"x\"\"y\"]",
        // §6
        "-", "+", "+1", "01", "00", "-01", "-00", "1.", ".5", "-.5", "1.e1", "1e", "1E", "1e+", "1e-", "1.5e", "1ee1",
        "1e1.5", "0x1", "1_000", "1,000", "NaN", "Infinity", "-Infinity", "--1", "1-1", "1.2.3", "0e", "0.e1", "- 1",
        "1a", "1e1a", "2e+", "-a", "012", "-012", "1 000", "１", "9.e+", "0.", "-0.", "1e0e",
        // §7
        "\"", "\"a", "\"\\", "\"\\\"", "\"\\a\"", "\"\\x41\"", "\"\\u\"", "\"\\u1\"", "\"\\u12\"", "\"\\u123\"",
        "\"\\u123g\"",
        "\"\\U0041\"", "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud800\\u0041\"", "\"\\udc00\"",
        "\"\\ud800\\ud800\"",
        "\"\\ud800\\", "\"\\ud800\\u\"", "\"\n\"", "\"\t\"", "\"\u{0}\"", "\"\u{1F}\"", "\"a\nb\"", "\"\\\n\"",
        "\"\\'\"", "\"a\"b",
        "\"\\0\"", "\"\\😀\"", "\"\\ \"", "[\"\\u00A\"]", "[\"\t\"]", "\"0123456\u{1}\"", "\"01234567\u{1}89abcdef\"",
    ])
    func invalidDocumentsAreRefused(text: String) {
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Ignored.self, from: Data(text.utf8)) }
        // Where the bytes end must not matter: behind the value there may be anything in memory.
        let padded = Data((" " + text + String(repeating: " ", count: 16)).utf8)
        if !text.isEmpty, !["{\"a\\", "\"\\"].contains(text) {
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Ignored.self, from: padded) }
        }
    }

    /// RFC 3629: overlong forms, surrogates, values beyond Unicode, sequences that are cut short.
    @Test(arguments: [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE],
        [0xFF],
        [0xF0, 0x9F, 0x98, 0x41], [0xE2, 0x82, 0xAC, 0x80],
    ])
    func badUTF8IsRefused(bytes: [UInt8]) {
        for padding in 0..<10 {
            let text = Array("[\"".utf8) + [UInt8](repeating: 0x61, count: padding) + bytes + Array("\"]".utf8)
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Ignored.self, from: Data(text)) }
        }
    }

    @Test(arguments: [
        ("[1,2", 4, 1, 5, FastJSONDecoder.SyntaxError.Reason.unexpectedEnd), ("[1,\n 01]", 6, 2, 3, .invalidNumber),
        ("{\"a\":1}\n\nx", 9, 3, 1, .trailingBytes), ("[\"\\q\"]", 2, 1, 3, .invalidEscape),
        ("[1}", 2, 1, 3, .unexpectedByte),
        ("\"a\u{1}\"", 2, 1, 3, .controlCharacter), ("", 0, 1, 1, .unexpectedEnd),
    ])
    func aSyntaxErrorHasAPosition(
        text: String, offset: Int, line: Int, column: Int, reason: FastJSONDecoder.SyntaxError.Reason
    ) throws {
        let error = #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode(Ignored.self, from: Data(text.utf8))
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "The given data was not valid JSON." && context.codingPath.isEmpty)
        let syntax = try #require(context.underlyingError as? FastJSONDecoder.SyntaxError)
        #expect(syntax.reason == reason)
        #expect(syntax.offset == offset && syntax.line == line && syntax.column == column)
    }

    @Test
    func depthIsBounded() throws {
        func nested(_ depth: Int) -> Data {
            Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try FastJSONDecoder().decode(Ignored.self, from: nested(512))
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Ignored.self, from: nested(513)) }
        let hostile = Data(repeating: UInt8(ascii: "["), count: 1_000_000)
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Ignored.self, from: hostile) }
        for depth in [1, 511, 512, 513] { Pair().expectSame(Ignored.self, nested(depth)) }
        Pair().expectSame(Tree.self, nested(64))
    }

    /// Every prefix of a document is refused, and none makes us read beyond it.
    @Test
    func prefixesAreRefused() {
        let bytes = Array(
            "{\"a\":[1,-2.5e3,\"x\\u00e9\\ud83d\\ude00é\",true,false,null,{}],\"b_c\":\"0123456789abcdef\"}".utf8)
        for length in 0..<bytes.count {
            let data = Data(bytes[..<length])
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Ignored.self, from: data) }
        }
    }
}
