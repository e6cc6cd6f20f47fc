// SPDX-License-Identifier: MIT

/// The cases of JSONTestSuite (Nicolas Seriot, "Parsing JSON is a Minefield"), as literals: 95 that every parser must
/// accept, 188 that it must refuse, and 35 that RFC 8259 leaves open, by what the decoder does with them.
enum ParsingCases {
    private static let x40 = String(repeating: "x", count: 40)

    static let accepted: [String] = [
        "[[]   ]", "[\"\"]", "[]", "[\"a\"]", "[false]", "[null, 1, \"1\", {}]", "[null]", "[1\n]", " [1]",
        "[1,null,null,null,2]", "[2] ", "[123e65]", "[0e+1]", "[0e1]", "[ 4]",
        "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]\n", "[20e1]", "[-0]",
        "[-123]", "[-1]", "[-0]", "[1E22]", "[1E-2]", "[1E+2]", "[123e45]", "[123.456e78]", "[1e-2]", "[1e+2]",
        "[123]", "[123.456789]", "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}", "{\"asd\":\"sdf\"}",
        "{\"a\":\"b\",\"a\":\"c\"}", "{\"a\":\"b\",\"a\":\"b\"}", "{}", "{\"\":0}", "{\"foo\\u0000bar\": 42}",
        "{ \"min\": -1.0e+28, \"max\": 1.0e+28 }", "{\"x\":[{\"id\": \"" + x40 + "\"}], \"id\": \"" + x40 + "\"}",
        "{\"a\":[]}",
        "{\"title\":\"\\u041f\\u043e\\u043b\\u0442\\u043e\\u0440\\u0430"
            + " \\u0417\\u0435\\u043c\\u043b\\u0435\\u043a\\u043e\\u043f\\u0430\" }",
        "{\n\"a\": \"b\"\n}", "[\"\\u0060\\u012a\\u12AB\"]", "[\"\\uD801\\udc37\"]",
        "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\\\u0000\"]", "[\"\\\"\"]",
        "[\"a/*b*/c/*d//e\"]", "[\"\\\\a\"]", "[\"\\\\n\"]", "[\"\\u0012\"]", "[\"\\uFFFF\"]", "[\"asd\"]",
        "[ \"asd\"]", "[\"\\uDBFF\\uDFFF\"]", "[\"new\\u00A0line\"]", "[\"\u{10FFFF}\"]", "[\"￿\"]", "[\"\\u0000\"]",
        "[\"\\u002c\"]", "[\"π\"]", "[\"\u{1BFFF}\"]", "[\"asd \"]", "\" \"", "[\"\\uD834\\uDd1e\"]", "[\"\\u0821\"]",
        "[\"\\u0123\"]", "[\"\u{2028}\"]", "[\"\u{2029}\"]", "[\"\\u0061\\u30af\\u30EA\\u30b9\"]",
        "[\"new\\u000Aline\"]", "[\"\u{7F}\"]", "[\"\\uA66D\"]", "[\"\\u005C\"]", "[\"⍂㈴⍂\"]", "[\"\\uDBFF\\uDFFE\"]",
        "[\"\\uD83F\\uDFFE\"]", "[\"\\u200B\"]", "[\"\\u2064\"]", "[\"\\uFDD0\"]", "[\"\\uFFFE\"]", "[\"\\u0022\"]",
        "[\"€\u{1D11E}\"]", "[\"a\u{7F}a\"]", "false", "42", "-0.1", "null", "\"asd\"", "true", "\"\"", "[\"a\"]\n",
        "[true]", " [] ",
    ]

    /// Left open by the standard, and accepted where nothing reads the numbers.
    static let openAndAccepted: [String] = [
        "[123.456e-789]", "[-1e+9999]", "[1.5e+9999]", "[-123123e100000]", "[123123e100000]", "[123e-10000000]",
        "[-123123123123123123123123123123]", "[100000000000000000000]",
        "[-237462374673276894279832749832423479823246327846]", "\u{FEFF}{}",
        "[0.4e0066" + String(repeating: "9", count: 116) + "6" + String(repeating: "9", count: 7) + "006]",
        String(repeating: "[", count: 500) + String(repeating: "]", count: 500),
    ]

    /// Left open, and refused: halves of surrogate pairs, bytes that are no text, and UTF-16.
    static let openAndRefused: [String] = [
        "{\"\\uDFAA\":0}", "[\"\\uDADA\"]", "[\"\\uD888\\u1234\"]", "[\"\\uD800\\n\"]", "[\"\\uDd1ea\"]",
        "[\"\\uD800\\uD800\\n\"]", "[\"\\ud800\"]", "[\"\\ud800abc\"]", "[\"\\uDd1e\\uD834\"]", "[\"\\uDFAA\"]",
    ]
    static let openAndRefusedBytes: [[UInt8]] = [
        [0x5B, 0x22, 0xE6, 0x97, 0xA5, 0xD1, 0x88, 0xFA, 0x22, 0x5D], [0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D],
        [0x5B, 0x22, 0xFF, 0x22, 0x5D], [0x5B, 0x22, 0xE9, 0x22, 0x5D], [0x5B, 0x22, 0x81, 0x22, 0x5D],
        [0x5B, 0x22, 0xF4, 0xBF, 0xBF, 0xBF, 0x22, 0x5D], [0x5B, 0x22, 0xC0, 0xAF, 0x22, 0x5D],
        [0x5B, 0x22, 0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF, 0x22, 0x5D],
        [0x5B, 0x22, 0xFC, 0x80, 0x80, 0x80, 0x80, 0x80, 0x22, 0x5D], [0x5B, 0x22, 0xE0, 0xFF, 0x22, 0x5D],
        [0xFF, 0xFE, 0x5B, 0x00, 0x22, 0x00, 0xE9, 0x00, 0x22, 0x00, 0x5D, 0x00],
        [0x00, 0x5B, 0x00, 0x22, 0x00, 0xE9, 0x00, 0x22, 0x00, 0x5D],
        [0x5B, 0x00, 0x22, 0x00, 0xE9, 0x00, 0x22, 0x00, 0x5D, 0x00],
    ]
}
