// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MediaTypeTests {
    @Test(
        "The four spellings of RFC 9110 §8.3.1 mean the same type",
        arguments: [
            "text/html;charset=utf-8", "Text/HTML;Charset=\"utf-8\"", "text/html; charset=\"utf-8\"",
            "text/html;charset=UTF-8",
        ])
    func rfcExamples(text: String) throws {
        let type = try #require(MediaType(text))
        #expect(type.essence == "text/html")
        #expect(type.charset == "utf-8")
    }

    @Test(
        "Text that is not type/subtype is refused",
        arguments: [
            "", "text", "text/", "/html", "text/html/x", "text /html", "te xt/html", "text/html x", "text/ht\u{0}ml",
            "text/html, text/plain", "téxt/html",
        ])
    func malformed(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(
        "Parameters are read in order, malformed ones skipped",
        arguments: [
            ("a/b; x=1; y=2", ["x=1", "y=2"]),
            ("a/b;X=\"a\\\"b; c\" ; y=z", ["x=a\"b; c", "y=z"]),
            ("a/b; ; ;x=1;", ["x=1"]),
            ("a/b; charset; x=1", ["x=1"]),
            ("a/b; x = 1; y=2", ["y=2"]),
            ("a/b; x=\"open; y=2", []),
            ("a/b; x=; y=2", ["y=2"]),
            ("a/b; x=\"\"", ["x="]),
            ("a/b; x=\"q\"junk; y=2", ["y=2"]),
            (" a/b ; boundary=\"----W:b\" ", ["boundary=----W:b"]),
        ] as [(String, [String])])
    func parameters(text: String, expected: [String]) throws {
        let type = try #require(MediaType(text))
        #expect(type.parameters.map { "\($0.name)=\($0.value)" } == expected)
    }

    @Test(
        "A description reads back as the same type",
        arguments: [
            ("application/json", "application/json"), ("TEXT/Plain;CHARSET=UTF-8", "text/plain; charset=UTF-8"),
            ("a/b; x=\"a b\"", "a/b; x=\"a b\""), ("a/b; x=\"q\\\"\\\\\"", "a/b; x=\"q\\\"\\\\\""),
            ("a/b; x=\"\"", "a/b; x=\"\""),
        ])
    func roundTrip(text: String, written: String) throws {
        let type = try #require(MediaType(text))
        #expect(type.description == written)
        #expect(MediaType(type.description) == type)
    }

    @Test(
        "Ranges match as in RFC 9110 §12.5.1",
        arguments: [
            ("text/plain", "*/*", true), ("text/plain", "text/*", true), ("text/plain", "text/plain", true),
            ("text/plain;format=flowed", "text/plain;format=flowed", true),
            ("text/plain", "text/plain;format=flowed", false), ("text/plain;format=flowed", "text/plain", true),
            ("text/html", "text/plain", false), ("text/html", "application/*", false),
            ("application/json", "application/json;q=0.5", true),
            ("text/plain;charset=UTF-8", "text/plain;charset=utf-8", true),
        ])
    func matching(text: String, range: String, expected: Bool) throws {
        #expect(try #require(MediaType(text)).matches(try #require(MediaType(range))) == expected)
    }

    @Test(
        "JSON is recognised by name and by suffix",
        arguments: [
            ("application/json", true), ("application/problem+json", true), ("application/vnd.api+JSON", true),
            ("text/json; charset=utf-8", true), ("application/jsonl", false), ("text/plain", false),
            ("image/json", false),
        ])
    func json(text: String, expected: Bool) throws {
        #expect(try #require(MediaType(text)).isJSON == expected)
    }
}
