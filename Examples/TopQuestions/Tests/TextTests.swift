// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Testing

@testable import TopQuestions

@Suite(.timeLimit(.minutes(1)))
struct TextTests {
    @Test(
        "Columns are counted as terminals do",
        arguments: [
            ("abc", 3), ("配列", 4), ("é", 1), ("e\u{301}", 1), ("🐦", 2), ("❤️", 2), ("ｆ", 2), ("…", 1), ("", 0),
        ])
    func columns(text: String, count: Int) {
        #expect(text.columns == count)
    }

    @Test(
        "Text is broken between words, and inside of long ones",
        arguments: [
            ("one two three", 7, ["one two", "three"]),
            ("one two", 3, ["one", "two"]),
            ("abcdefgh ij", 4, ["abcd", "efgh", "ij"]),
            ("a abcdefg", 4, ["a", "abcd", "efg"]),
            ("配列を並べる", 5, ["配列", "を並", "べる"]),
            ("    code\n\nend", 20, ["    code", "", "end"]),
            ("配", 1, ["配", ""]),
            ("", 5, [""]),
        ])
    func wrapping(text: String, columns: Int, lines: [String]) {
        #expect(text.wrapped(to: columns) == lines)
    }

    @Test("A line is cut to the columns, with a mark, also in the middle of a wide character")
    func cutting() {
        var line = Line("abc", .bold)
        line.append("配列")
        #expect(line.fitted(to: 7) == line)
        #expect(line.fitted(to: 6).text == "abc配…")
        #expect(line.fitted(to: 5).text == "abc…")
        #expect(line.fitted(to: 2).text == "a…")
        #expect(line.fitted(to: 1).text == "…")
        #expect(line.fitted(to: 0).text == "")
        #expect(line.padded(to: 9).columns == 9)
    }

    @Test("The text of a server cannot steer the terminal")
    func steering() {
        let line = Line("a\u{1B}[2Jb\u{7}\u{9B}c\u{202E}d\u{2028}e\r\nf")
        #expect(line.text == "a [2Jb  c d e f")
        #expect(Painter(environment: [:]).paint(line) == line.text)
    }

    @Test("Colours are as many as the environment says")
    func colours() {
        let top = Pixel(red: 0, green: 51, blue: 255)
        let pixels = Line("▀", .pixels(top: top, bottom: Pixel(red: 255, green: 255, blue: 255)))
        let full = Painter(environment: ["COLORTERM": "truecolor"])
        #expect(full.paint(pixels) == "\u{1B}[38;2;0;51;255;48;2;255;255;255m▀\u{1B}[0m")
        #expect(Painter(environment: [:]).paint(pixels) == "\u{1B}[38;5;27;48;5;231m▀\u{1B}[0m")
        let none = Painter(environment: ["NO_COLOR": "1", "COLORTERM": "truecolor"])
        #expect(none.paint(pixels) == "▀")
        #expect(none.paint(Line("bad", .failure)) == "\u{1B}[1mbad\u{1B}[0m")
    }
}

@Suite(.timeLimit(.minutes(1)))
struct KeyDecoderTests {
    @Test(
        "Keys are read from what terminals send",
        arguments: [
            ("\u{1B}[A\u{1B}[B", [Key.up, .down]),
            ("\u{1B}OA\u{1B}OD\u{1B}OC", [.up, .left, .right]),
            ("\u{1B}[5~\u{1B}[6~\u{1B}[1~\u{1B}[F", [.pageUp, .pageDown, .home, .end]),
            ("\u{1B}[1;5A", [.up]),
            ("\u{1B}[200~x", [.character("x")]),
            ("\r\nq", [.enter, .enter, .character("q")]),
            ("\u{3}", [.interrupt]),
            ("jé配🐦", [.character("j"), .character("é"), .character("配"), .character("🐦")]),
            ("\u{1B}j", [.escape, .character("j")]),
            ("\u{1B}\u{1B}[A", [.escape, .up]),
            ("\t\u{7F}", []),
        ])
    func keys(text: String, keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(text.utf8) == keys)
        #expect(!decoder.isWaiting)
        // However the bytes are cut, the keys are the same.
        #expect(text.utf8.flatMap { decoder.decode([$0]) } == keys)
    }

    @Test("An Escape with nothing after it is the key, and half a sequence is none")
    func waiting() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]) == [])
        #expect(decoder.isWaiting)
        #expect(decoder.rest() == [.escape])
        #expect(decoder.decode(Array("\u{1B}[1;".utf8)) == [])
        #expect(decoder.rest() == [])
        #expect(!decoder.isWaiting)
    }

    @Test("Broken text and endless sequences do no harm")
    func broken() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0xFF, 0xC3, 0x6A, 0xED, 0xA0, 0x80, 0x6B]) == [.character("j"), .character("k")])
        #expect(decoder.decode([0x1B, 0x5B] + Array(repeating: 0x31, count: 100)) == [])
        #expect(!decoder.isWaiting)
    }
}
#endif
