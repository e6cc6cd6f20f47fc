// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct DownloadNameTests {
    static func name(_ fileName: String, url: String = "https://example.com/", type: MediaType? = nil) -> String {
        let encoded = PercentCoding.encode(fileName, for: .pathSegment)
        return DownloadName.downloadName(
            disposition: "attachment; filename*=UTF-8''\(encoded)", url: url, mediaType: type)
    }

    @Test(
        "Hostile names become one harmless component",
        arguments: [
            ("report.pdf", "report.pdf"), ("Grüße aus Köln.txt", "Grüße aus Köln.txt"), ("日本語.txt", "日本語.txt"),
            ("../../etc/passwd", "passwd"), ("..\\..\\windows\\system.ini", "system.ini"), ("/etc/shadow", "shadow"),
            ("C:\\temp\\a.txt", "a.txt"), ("C:a.txt", "C_a.txt"), ("a.txt:stream", "a.txt_stream"), ("dir/", "dir"),
            ("\\\\host\\share\\x", "x"), ("a/..", "download"), ("..", "download"), (".", "download"), ("", "download"),
            ("...", "download"), (" . . ", "download"), ("/", "download"), ("\u{202E}", "download"),
            ("\u{202E}gpj.exe", "gpj.exe"), ("a\u{2066}b\u{2069}\u{200F}.txt", "ab.txt"), ("a\u{0}b.txt", "ab.txt"),
            ("a\r\nb.txt", "a b.txt"), ("a\u{2028}b\u{2029}c.txt", "a b c.txt"), ("a\u{85}b", "a b"),
            ("invoice.pdf               .exe", "invoice.pdf .exe"), ("\u{FEFF}a\u{200B}\u{AD}.txt", "a.txt"),
            ("\u{3164}\u{115F}", "download"), ("\u{A0}\u{3000}", "download"), ("a\u{E0041}.txt", "a.txt"),
            (".htaccess", "htaccess"), ("..bashrc", "bashrc"), (". .hidden", "hidden"), ("a.txt.", "a.txt"),
            ("a.txt. . ", "a.txt"), ("a.txt\u{A0}", "a.txt"), ("CON", "_CON"), ("con.txt", "_con.txt"),
            ("Aux.tar.gz", "_Aux.tar.gz"), ("nul .txt", "_nul .txt"), ("COM1", "_COM1"), ("lpt9.log", "_lpt9.log"),
            ("com¹.txt", "_com¹.txt"), ("COM10", "COM10"), ("CONSOLE", "CONSOLE"), ("conin$", "_conin$"),
            (".con", "_con"), ("con\u{200D}.txt", "_con.txt"), ("co\u{0}n", "_con"), ("/x/prn.", "_prn"),
            ("a<b>c\"d|e?f*g.txt", "a_b_c_d_e_f_g.txt"), ("~", "~"), ("-rf", "-rf"), ("%2e%2e%2fa", "%2e%2e%2fa"),
            ("film.part", "film_part"), ("film.PaRt.", "film_PaRt"), ("a.part. ", "a_part"), ("a.part/x", "x"),
            ("film.mp4.part.state", "film.mp4.part_state"), ("film.part.\u{17F}tate", "film.part_\u{17F}tate"),
            ("x.part.lock", "x.part_lock"), ("x.curlew-upload", "x_curlew-upload"), (".part", "part"),
            ("x.CURLEW-UPLOAD.new", "x.CURLEW-UPLOAD_new"), ("a.par\u{200B}t", "a_part"), ("yarn.lock", "yarn.lock"),
            ("e\u{301}.part", "e\u{301}_part"), ("a.part\u{301}", "a.part\u{301}"), ("party.parts", "party.parts"),
            ("a\u{FFFF}.txt", "a.txt"), ("e\u{301}.txt", "e\u{301}.txt"), ("a/\u{301}b", "\u{301}b"),
        ])
    func hostile(given: String, expected: String) {
        let name = Self.name(given)
        #expect(Array(name.unicodeScalars) == Array(expected.unicodeScalars))
        #expect(Self.isSafe(name))
    }

    @Test(
        "Without a usable name, the URL's path decides",
        arguments: [
            ("https://example.com/files/a.zip?x=/b#c", "a.zip"), ("https://example.com/a%20b.txt", "a b.txt"),
            ("https://example.com/a%2Fb.txt", "b.txt"), ("https://example.com/..%5C..%5Cc.txt", "c.txt"),
            ("https://example.com/%2e%2e", "download.pdf"), ("https://example.com/a%FF.txt", "a%FF.txt"),
            ("https://example.com", "download.pdf"), ("https://example.com/dir/", "download.pdf"),
            ("not a url", "download.pdf"), ("", "download.pdf"), ("https://example.com/con", "_con"),
        ])
    func urls(url: String, expected: String) {
        let type = MediaType("application/pdf")
        for disposition in [nil, "attachment", "attachment; filename=\"..\"", "inline; filename=\"\"", "", "\u{0}"] {
            #expect(DownloadName.downloadName(disposition: disposition, url: url, mediaType: type) == expected)
        }
        #expect(Self.name("x.y", url: url, type: type) == "x.y")
    }

    @Test(
        "The last fallback has an extension by media type",
        arguments: [
            ("image/jpeg", "download.jpg"), ("text/html; charset=utf-8", "download.html"),
            ("text/plain", "download.txt"),
            ("application/vnd.api+json", "download.json"), ("application/atom+xml", "download.xml"),
            ("image/svg+xml", "download.svg"), ("application/octet-stream", "download"), ("a/b", "download"),
            ("audio/mpeg", "download.mp3"), ("image/tiff", "download.tiff"), ("application/yaml", "download.yaml"),
        ])
    func extensions(type: String, expected: String) {
        #expect(DownloadName.downloadName(disposition: nil, url: "", mediaType: MediaType(type)) == expected)
        #expect(DownloadName.downloadName(disposition: nil, url: "", mediaType: nil) == "download")
    }

    @Test("Long names are cut between scalars, and a short extension stays")
    func lengths() {
        #expect(Self.name(String(repeating: "a", count: 255)).utf8.count == 255)
        let text = Self.name(String(repeating: "a", count: 400) + ".tar.gz")
        #expect(text.utf8.count == 255 && text.hasSuffix("a.gz"))
        let wide = Self.name(String(repeating: "語", count: 200) + ".txt")
        #expect(wide == String(repeating: "語", count: 83) + ".txt")
        let face = Self.name(String(repeating: "😀", count: 200))
        #expect(face == String(repeating: "😀", count: 63))
        let noName = Self.name("a." + String(repeating: "x", count: 300))
        #expect(noName == "a." + String(repeating: "x", count: 253))
        let gap = Self.name(String(repeating: "a", count: 250) + " " + String(repeating: "b", count: 20) + ".txt")
        #expect(gap == String(repeating: "a", count: 250) + ".txt")
        let device = Self.name("nul." + String(repeating: "x", count: 300))
        #expect(device.utf8.count == 255 && device.hasPrefix("_nul.x"))
    }

    @Test("The result is one safe component for every text", arguments: 1...60)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "..", ".", "/", "\\", " ", "con", "NUL", "com1", "\u{202E}", "\u{0}", "\n", "a", "é", "😀", "\u{301}",
            ".txt", ".part", ".PART", ".state",
            ":", "%2f", "\u{2028}", "\u{A0}", "\u{200D}", String(repeating: "長", count: 84), "\"", ";", "'",
        ]
        for _ in 0..<50 {
            var text = ""
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                text += Bool.random(using: &random) ? pieces.randomElement(using: &random) ?? "" : random.text(upTo: 4)
            }
            let url = Bool.random(using: &random) ? "https://example.com/" + text : text
            for disposition in [text, "attachment; filename=\"\(text)\"", "a; filename=\(text)", nil] {
                let name = DownloadName.downloadName(disposition: disposition, url: url, mediaType: nil)
                #expect(Self.isSafe(name), "seed \(seed): \(text.debugDescription) gives \(name.debugDescription)")
                #expect(Self.name(name) == name, "seed \(seed): \(name.debugDescription) is not a fixed point")
            }
        }
    }

    /// Checks the guarantees anew, without the code under test.
    static func isSafe(_ name: String) -> Bool {
        let scalars = Array(name.unicodeScalars)
        let bytes = Array(name.utf8)
        guard (1...255).contains(bytes.count), let first = bytes.first, let last = bytes.last else { return false }
        guard first != 0x2E, first != 0x20, last != 0x2E, last != 0x20 else { return false }
        let isClean = scalars.allSatisfy { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F...0x9F, 0xAD, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
                0xE0000...0xE0FFF:
                false
            default: !"/\\<>:\"|?*".unicodeScalars.contains(scalar)
            }
        }
        let stem = name.split(separator: ".", omittingEmptySubsequences: false).first.map { $0.lowercased() } ?? ""
        var devices = ["con", "prn", "aux", "nul", "conin$", "conout$"]
        for digit in "0123456789¹²³" { devices += ["com\(digit)", "lpt\(digit)"] }
        let shown = stem.reversed().drop { $0 == " " }.reversed()
        let lowered = name.lowercased()
        let isOwn = [".part", ".part.state", ".part.lock", ".curlew-upload"].contains { lowered.hasSuffix($0) }
        return isClean && !isOwn && !devices.contains(String(shown))
    }
}
