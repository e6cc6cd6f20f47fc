// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct ContentDispositionTests {
    @Test(
        "Field values as servers send them are read",
        arguments: [
            ("attachment", nil),
            ("INLINE", nil),
            ("attachment; filename=a.txt", "a.txt"),
            ("attachment; filename=\"a b.txt\"", "a b.txt"),
            ("Attachment;FileName=\"a.txt\";", "a.txt"),
            ("attachment; filename=\"a\\\"b;c.txt\"; size=5", "a\"b;c.txt"),
            ("attachment; filename = \"a.txt\" ; x=y", "a.txt"),
            ("attachment; filename=my file.pdf ; size=1", "my file.pdf"),
            ("attachment; filename=\"open.txt", "open.txt"),
            ("attachment; filename=\"open\\", "open\\"),
            ("filename=a.txt", "a.txt"),
            ("attachment; filename=\"\"", ""),
            ("attachment; filename=", ""),
            ("attachment; filename=a.txt; filename=b.txt", "a.txt"),
            ("attachment; filename=\"n\u{E4}ive.txt\"", "n\u{E4}ive.txt"),
            ("attachment; xfilename=a.txt; filename2=b", nil),
            (";;; attachment ;; filename=a", "a"),
            ("form-data; name=f; filename=\"a\"", "a"),
            ("attachment; filename=%41.txt", "%41.txt"),
        ] as [(String, String?)])
    func plain(value: String, name: String?) {
        #expect(ContentDisposition(value)?.fileName == name)
    }

    @Test(
        "An extended name wins if it can be decoded (RFC 8187)",
        arguments: [
            ("attachment; filename=b; filename*=UTF-8''na%C3%AFve%20file.txt", "naïve file.txt"),
            ("attachment; filename*=utf-8'en'%e2%82%ac%20rates; filename=b", "€ rates"),
            ("attachment; filename*=UTF-8''it%27s'ok'", "it's'ok'"),
            ("attachment; filename*=\"UTF-8''quoted%2e\"", "quoted."),
            ("attachment; filename=b; filename*=UTF-8''%C3", "b"),
            ("attachment; filename=b; filename*=UTF-8''%zz", "b"),
            ("attachment; filename=b; filename*=UTF-8''a%4", "b"),
            ("attachment; filename=b; filename*=iso-8859-1''%A3", "b"),
            ("attachment; filename=b; filename*=UTF-16''a", "b"),
            ("attachment; filename=b; filename*=UTF-8'a", "b"),
            ("attachment; filename=b; filename*=", "b"),
            ("attachment; filename*=UTF-8''%zz; filename*=UTF-8''second; filename=b", "second"),
        ])
    func extended(value: String, name: String) throws {
        #expect(try #require(ContentDisposition(value)).fileName == name)
    }

    @Test("Without a name there is no value", arguments: ["", " ; ;", "=a", "a b", "\u{0}", "size=3"])
    func nothing(value: String) {
        #expect(ContentDisposition(value) == nil)
    }

    @Test("Any text is read, and a quoted name is returned unchanged", arguments: 1...100)
    func fuzz(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            let text = random.text(upTo: 30)
            for value in [text, "attachment; filename*=UTF-8''\(text)", "attachment; filename=\(text)"] {
                _ = ContentDisposition(value)
            }
            let quoted = String(
                decoding: text.utf8.flatMap { [0x22, 0x5C].contains($0) ? [0x5C, $0] : [$0] }, as: UTF8.self)
            let encoded = PercentCoding.encode(text, for: .pathSegment)
            #expect(ContentDisposition("a; filename=\"\(quoted)\"; b=c")?.fileName == text, "seed \(seed)")
            #expect(ContentDisposition("a; filename*=UTF-8''\(encoded)")?.fileName == text, "seed \(seed)")
        }
    }
}
