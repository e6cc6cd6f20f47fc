// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct PartDispositionTests {
    @Test(
        "Names are read from tokens, quoted text and RFC 8187",
        arguments: [
            (#"form-data; name="a""#, "a", nil), ("form-data;name=a;filename=b.txt;", "a", "b.txt"),
            (#"FORM-DATA ; NAME = "a" ; FileName="b c.txt""#, "a", "b c.txt"), ("form-data", nil, nil),
            (#"form-data; name="größe"; filename="süß 1.txt""#, "größe", "süß 1.txt"),
            ("form-data; name=größe", "größe", nil), (#"form-data; name="a;b=c""#, "a;b=c", nil),
            (#"form-data; name="a\"b\\c\d""#, #"a"b\c\d"#, nil),
            (#"form-data; name="a%22%0D%0a%5C%""#, "a\"\r\n%5C%", nil),
            (#"form-data; name="""#, "", nil),
            (#"form-data; filename="x"; filename*=UTF-8'de'%e2%82%ac%20.txt"#, nil, "€ .txt"),
            (#"form-data; filename="x"; filename*=ISO-8859-1''%e4"#, nil, "ä"),
            (#"form-data; filename="x"; filename*=UTF-8''%e4"#, nil, "x"),
            (#"form-data; filename="x"; filename*=UTF-8'%e4"#, nil, "x"),
            (#"attachment; filename="a%22b""#, nil, "a%22b"),
        ] as [(String, String?, String?)])
    func reading(value: String, name: String?, fileName: String?) throws {
        let disposition = try #require(PartDisposition(value))
        #expect(disposition.name == name)
        #expect(disposition.fileName == fileName)
        #expect(disposition.kind == (value.utf8.first == UInt8(ascii: "a") ? "attachment" : "form-data"))
    }

    @Test(
        "A value is refused that receivers would read in different ways",
        arguments: [
            "", ";", "form-data name=a", "form-data; name", "form-data; name=", #"form-data; name="a"#,
            #"form-data; name="a"b"#, "form-data; name=a; name=b", #"form-data; name=a"b"#, "form-data; =a",
            #"form-data; filename=a; FILENAME="b""#,
        ])
    func refusals(value: String) {
        #expect(PartDisposition(value) == nil)
    }

    @Test(
        "A file name is never a path",
        arguments: [
            ("../../etc/passwd", "passwd"), (#"C:\Users\x.txt"#, "x.txt"), ("a/", nil), ("..", nil), (".", nil),
            ("", nil), ("a\u{7}b\0.txt", "ab.txt"), ("/\u{301}x", "\u{301}x"), (".\u{1}.", nil),
        ] as [(String, String?)])
    func paths(text: String, fileName: String?) {
        #expect(PartDisposition("form-data; filename=\"\(text)\"")?.fileName == fileName)
        let coded = PercentCoding.encode(text, for: .pathSegment)
        #expect(PartDisposition("attachment; filename*=UTF-8''\(coded)")?.fileName == fileName)
    }

    @Test(
        "A backslash is sent as it is, where no receiver takes it for an escape",
        arguments: [
            (#"a\b.txt"#, #"a\b.txt"#), (#"a\\b"#, #"a%5C\b"#), (#"a\"#, "a%5C"), (#"\\"#, "%5C%5C"),
        ])
    func backslashes(name: String, written: String) {
        #expect(PartDisposition.formData(name: name, fileName: nil) == "form-data; name=\"\(written)\"")
    }

    @Test("A written disposition is read back, but for control characters and backslashes")
    func roundTrip() throws {
        let seed = UInt64.random(in: 0...(.max))
        print("PartDispositionTests seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let text = random.text(upTo: 20)
            let kept = text.utf8.allSatisfy {
                $0 == 0x0D || $0 == 0x0A || ($0 >= 0x20 && $0 != 0x7F && $0 != 0x5C && $0 != 0x25)
            }
            let written = PartDisposition.formData(name: text, fileName: "f\(text)")
            #expect(written.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
            let read = try #require(PartDisposition(written), "seed \(seed): \(written)")
            if kept { #expect(read.name == text, "seed \(seed)") }
            let attached = PartDisposition.attachment(fileName: "f\(text)")
            #expect(attached.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x5C })
            let isName = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x2F && $0 != 0x5C }
            if isName { #expect(PartDisposition(attached)?.fileName == "f\(text)", "seed \(seed)") }
        }
    }
}
