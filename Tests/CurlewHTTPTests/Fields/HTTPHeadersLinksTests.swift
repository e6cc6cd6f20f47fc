// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPHeadersLinksTests {
    private func headers(_ fields: [String]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in fields { headers.append(.link, field) }
        return headers
    }

    /// The links as text: target, relations and anchor.
    private func text(_ fields: String...) -> [String] {
        headers(fields).links.map { link in
            "\(link.target) [\(link.relations.joined(separator: " "))]" + (link.anchor.map { " from \($0)" } ?? "")
        }
    }

    @Test("The examples of RFC 8288 section 3.5 are read")
    func examples() {
        let previous = #"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#
        #expect(text(previous) == ["http://example.com/TheBook/chapter2 [previous]"])
        #expect(text(#"</>; rel="http://example.net/foo""#) == ["/ [http://example.net/foo]"])
        #expect(text(#"</terms>; rel="copyright"; anchor="\#("#foo")""#) == ["/terms [copyright] from #foo"])
        let titled = """
            </TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, \
            </TheBook/chapter4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel
            """
        #expect(text(titled) == ["/TheBook/chapter2 [previous]", "/TheBook/chapter4 [next]"])
        #expect(
            text(#"<http://example.org/>; rel="start http://example.net/relation/other""#) == [
                "http://example.org/ [start http://example.net/relation/other]"
            ])
        #expect(
            text(#"<https://example.org/>; rel="start", <https://example.org/index>; rel="index""#) == [
                "https://example.org/ [start]", "https://example.org/index [index]",
            ])
    }

    @Test(
        "Link values of every shape are read or skipped",
        arguments: [
            ("", []), (",, ,", []), ("</a>", ["/a []"]), ("<>;rel=self", [" [self]"]), ("</a>;rel=next", ["/a [next]"]),
            ("</a> ; rel = next ;x=1", ["/a [next]"]), ("</a>; REL=NEXT", ["/a [next]"]),
            ("</a>; rel=prev; rel=next", ["/a [prev]"]), ("</a>; rel=\"\"; rel=next", ["/a []"]),
            ("</a>; rel=\" next  last \"", ["/a [next last]"]), ("</a,b;c>; rel=next", ["/a,b;c [next]"]),
            ("</a>; title=\"x, </b>; rel=next\"; rel=prev", ["/a [prev]"]),
            ("</a>; title=\"a\\\"b\\\\\"; rel=x", ["/a [x]"]), ("</a>;;; rel=next;", ["/a [next]"]),
            ("</a>; rel=http://x/y; z", ["/a [http://x/y]"]), ("</a>; rel; rel=next", ["/a []"]),
            ("</a>; title*=UTF-8''%FF; rel=next", ["/a [next]"]), ("</a>; title*=x", ["/a []"]),
            ("</a>; anchor=\"/b\"; anchor=\"/c\"", ["/a [] from /b"]), ("</a>,</b>; rel=next", ["/a []", "/b [next]"]),
            // Malformed links are skipped, those after them are not.
            ("/a; rel=next", []), ("x, </b>; rel=next", ["/b [next]"]), ("\"</a>;rel=next\", </b>", ["/b []"]),
            ("</a; rel=next, </b>; rel=next", ["/a; rel=next, </b [next]"]), ("</a", []), ("<", []),
            ("</a> x, </b>; rel=next", ["/b [next]"]), ("</a>; rel=\"open, </b>; rel=next", []),
            ("</a>; =x, </b>; rel=next", ["/b [next]"]), ("</a>; rel=next x, </b>", ["/b []"]),
            ("</a>; rel=\"x\"y, </b>", ["/b []"]),
        ] as [(String, [String])])
    func shapes(field: String, expected: [String]) {
        #expect(text(field) == expected)
    }

    @Test("Several fields are read in order, and a malformed one does not affect the others")
    func fields() {
        #expect(text("</a>; rel=\"x", "</b>; rel=next", "</c>").map { $0.prefix(2) } == ["/b", "/c"])
    }

    @Test(
        "A relation's target is resolved against the response's URL, if the link is about that URL",
        arguments: [
            ("</films?page=2>; rel=next", "https://h/films?page=2"),
            ("<?page=2>; rel=next", "https://h/v1/films?page=2"),
            ("<next>; rel=next", "https://h/v1/next"), ("<../x>; rel=Next", "https://h/x"),
            ("<//o/x>; rel=next", "https://o/x"), ("<http://o/x#y>; rel=next", "http://o/x"),
            ("<>; rel=next", "https://h/v1/films?q=1"), ("</a>; rel=prev", nil),
            ("</a>; rel=\"last next\"", "https://h/a"),
            ("</a>; rel=next, </b>; rel=next", "https://h/a"), ("<ftp://h/a>; rel=next", nil),
            ("<http://>; rel=next", nil),
            // The context of the link.
            ("</a>; rel=next; anchor=\"/other\", </b>; rel=next", "https://h/b"),
            ("</a>; rel=next; anchor=\"#part\"", nil),
            ("</a>; rel=next; anchor=\"\"", "https://h/a"), ("</a>; rel=next; anchor=\"?q=1\"", "https://h/a"),
            ("</a>; rel=next; anchor=\"https://h/v1/films?q=1\"", "https://h/a"),
            ("</a>; rel=next; anchor=\"https://h/v1/films\"", nil), ("</a>; rel=next; anchor=\"ftp://x\"", nil),
        ] as [(String, String?)])
    func urls(field: String, expected: String?) {
        #expect(headers([field]).link("NEXT", from: "https://h/v1/films?q=1") == expected)
    }

    @Test("The numbers of links and relations are bounded")
    func bounds() {
        let many = Array(repeating: "</a>; rel=next", count: 1000).joined(separator: ",")
        #expect(headers([many, many]).links.count == 256)
        let wide = "</a>; rel=\"" + String(repeating: "next ", count: 1000) + "\""
        #expect(headers([wide]).links.first?.relations.count == 32)
        #expect(headers(["</a>; rel=next"]).link("next", from: "not a URL") == nil)
    }

    @Test("Random fields never trap, and every target stands in its field")
    func fuzz() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "<", ">", "</a>", ";", ",", "\"", "\\", "=", " rel=next", "rel", "anchor", "title*", "UTF-8''", "%C3", " ",
            "'", "\u{301}",
        ]
        var found = 0
        for _ in 0..<20_000 {
            var field = (0..<Int.random(in: 0...10, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            if Int.random(in: 0..<8, using: &random) == 0 { field += random.text(upTo: 6) }
            let headers = headers([field, "</last>; rel=last"])
            let links = headers.links
            found += max(0, links.count - 1)
            for link in links.dropLast() {
                #expect(
                    field.utf8.firstRange(of: link.target.utf8) != nil || link.target.isEmpty, "seed \(seed): \(field)")
            }
            if headers.problem == nil { #expect(links.last?.relations == ["last"], "seed \(seed): \(field)") }
        }
        #expect(found > 100, "seed \(seed)")
    }
}
