// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct ReferenceResolutionTests {
    static func resolve(_ reference: String, _ base: String) throws -> String {
        let base = try URLParts(base)
        return try URLParts(resolving: reference, against: base.origin, target: base.target).description
    }

    /// RFC 3986 §5.4.1 and §5.4.2, without fragments, which are never sent; an empty path is "/" in a request line.
    @Test(
        "The examples of RFC 3986 §5.4",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/../x", "http://a/b/c/g"), ("http:g", "http://a/b/c/g"),
        ])
    func standard(reference: String, expected: String) throws {
        #expect(try Self.resolve(reference, "http://a/b/c/d;p?q") == expected)
    }

    /// What browsers make of it (WHATWG URL §4.4).
    @Test(
        "Odd references are read as browsers read them",
        arguments: [
            (" /x ", "https://a.test/x"), ("\t/x", "https://a.test/x"), ("/a\tb", "https://a.test/ab"),
            ("/a b", "https://a.test/a%20b"), ("/ü?ö=ä", "https://a.test/%C3%BC?%C3%B6=%C3%A4"),
            ("/a%2Fb%zz", "https://a.test/a%2Fb%zz"), ("\\x", "https://a.test/x"), ("a\\b", "https://a.test/p/a/b"),
            ("/x?a\\b", "https://a.test/x?a%5Cb"), ("\\\\b.test\\x", "https://b.test/x"),
            ("///b.test/x", "https://b.test/x"),
            ("/\\b.test/x", "https://b.test/x"), ("https:/b.test/x", "https://a.test/b.test/x"),
            ("https:b.test", "https://a.test/p/b.test"), ("http:b.test/x", "http://b.test/x"),
            ("http:/b.test/x", "http://b.test/x"), ("HTTPS://B.Test/X", "https://b.test/X"),
            ("https:\\\\b.test\\x", "https://b.test/x"), ("https:////b.test/x", "https://b.test/x"),
            ("/a/%2e%2e/b", "https://a.test/b"), ("/a/.%2E/b", "https://a.test/b"), ("/a/%2e/b", "https://a.test/a/b"),
            ("?", "https://a.test/p/q?"), ("//b.test:443/x", "https://b.test/x"), ("//b.test?x", "https://b.test/?x"),
            ("/a//../b", "https://a.test/a/b"), ("x:80/y?z", nil), ("//", nil), ("//b test/", nil),
            ("//b.test:99999/", nil),
            ("mailto:a@b.test", nil), ("javascript:1", nil), ("localhost:80/x", nil), ("file:///etc/passwd", nil),
            ("//b\u{7F}.test/", nil), ("//bücher.test/", nil), ("//[::1/", nil),
        ] as [(String, String?)])
    func odd(reference: String, expected: String?) throws {
        if let expected {
            #expect(try Self.resolve(reference, "https://a.test/p/q?r") == expected)
        } else {
            #expect(throws: URLProblem.self) { try Self.resolve(reference, "https://a.test/p/q?r") }
        }
    }

    @Test("Whatever is written, the result is a URL that reads back the same, or an error")
    func anything() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "/", "\\", ".", "..", "%2e", "?", "#", ":", "//", "http", "https:", "a", "@", " ", "\t", "[::1]", "ü",
        ]
        for _ in 0..<2000 {
            let count = Int.random(in: 0...8, using: &random)
            var reference = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            if Bool.random(using: &random) { reference += random.text(upTo: 6) }
            guard let result = try? Self.resolve(reference, "https://a.test/p/q?r") else { continue }
            #expect(try URLParts(result).description == result, "seed \(seed): \(reference)")
            #expect(result.hasPrefix("http"), "seed \(seed): \(reference)")
            #expect(!result.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "seed \(seed): \(reference)")
        }
    }
}
