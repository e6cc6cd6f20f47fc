// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies

@Suite(.timeLimit(.minutes(1)))
struct SetCookieTests {
    /// Lines and what they mean, in part from the tests of the authors of RFC 6265 (http-state, tests/data/parser),
    /// with the nameless cookies of RFC 6265bis.
    @Test(
        "A line begins with a name and a value",
        arguments: [
            ("foo=bar", "foo", "bar"), ("foo", "", "foo"), ("=foo", "", "foo"), ("foo=", "foo", ""),
            ("a==b", "a", "=b"),
            ("  A  = BC  ;foo;;;   bar", "A", "BC"), ("z=y, a=b", "z", "y, a=b"), ("aBc=\"zz;pp\" ; ;", "aBc", "\"zz"),
            ("aBc=\"zzz \"   \"ppp\"  ;", "aBc", "\"zzz \"   \"ppp\""), ("ABC=;  path = /", "ABC", ""),
            ("a=b c", "a", "b c"),
            ("foo=春节回家路", "foo", "春节回家路"), ("foo=%0d%0aX", "foo", "%0d%0aX"), ("\tfoo\t=\tbar\t", "foo", "bar"),
            ("a=b\tc", "a", "b\tc"),
        ])
    func pair(line: String, name: String, value: String) throws {
        let cookie = try SetCookie(line)
        #expect(cookie.name == name)
        #expect(cookie.value == value)
    }

    @Test("Neither name nor value is no cookie", arguments: ["", "=", " = ", ";", "; Path=/", "   "])
    func empty(line: String) {
        #expect(throws: Cookie.Refusal.empty) { try SetCookie(line) }
    }

    @Test(
        "A control character anywhere spoils the line (GHSA-p88m-4jfj-68fv)",
        arguments: ["a=b\r\nX: y", "a=b\n", "a=\u{0}", "a=b; Path=/\u{1}", "a\u{7F}=b", "a=b; x=\u{1B}[0m"])
    func controls(line: String) {
        #expect(throws: Cookie.Refusal.controlCharacter) { try SetCookie(line) }
    }

    @Test("Name and value together have at most 4096 bytes, whatever the attributes")
    func length() throws {
        let attributes = "; x=" + String(repeating: "y", count: 9000)
        #expect(try SetCookie("abc=" + String(repeating: "x", count: 4093) + attributes).value.count == 4093)
        #expect(throws: Cookie.Refusal.tooLong) { try SetCookie("abc=" + String(repeating: "x", count: 4094)) }
        #expect(throws: Cookie.Refusal.tooLong) { try SetCookie("a=" + String(repeating: "ü", count: 2048)) }
    }

    @Test(
        "Secure and HttpOnly count by their name alone",
        arguments: [
            ("Secure", true), ("seCURe", true), ("Secure=", true), ("Secure=false", true), ("Secure =x", true),
            ("  Secure  ", true), ("Secure;qux", true), ("\"Secure\"", false), ("Secure qux", false),
            ("x=Secure", false),
        ])
    func flags(attribute: String, isSet: Bool) throws {
        #expect(try SetCookie("a=b; \(attribute)").isSecure == isSet)
        let other = attribute.replacing("Secure", with: "HttpOnly").replacing("seCURe", with: "hTTPonly")
        #expect(try SetCookie("a=b; \(other)").isHTTPOnly == isSet)
    }

    @Test(
        "The last Path counts, and only if it begins with a slash",
        arguments: [
            ("", nil), ("Path", nil), ("Path=", nil), ("Path=/", "/"), ("Path = /qux", "/qux"), ("Path=qux", nil),
            ("Path=/qux; Path=/", "/"), ("Path=/; Path=/qux", "/qux"), ("Path=/qux; Path=", nil), ("Path=\"/\"", nil),
        ] as [(String, String?)])
    func path(attributes: String, expected: String?) throws {
        #expect(try SetCookie("a=b; \(attributes)").path == expected)
    }

    @Test(
        "The last Domain counts, in lower case, without its dot",
        arguments: [
            ("", nil), ("Domain=", nil), ("Domain=.", nil), ("Domain=a.TEST", "a.test"), ("Domain=.a.test", "a.test"),
            ("Domain=..a.test", ".a.test"), ("Domain=a.test; Domain=", nil), ("domain=a; DOMAIN=b", "b"),
        ] as [(String, String?)])
    func domain(attributes: String, expected: String?) throws {
        #expect(try SetCookie("a=b; \(attributes)").domain == expected)
    }

    @Test(
        "Max-Age is a number of any size and sign, or ignored",
        arguments: [
            ("10000", 10_000), ("0", 0), ("-1", 0), ("-99999999999999999999", 0), ("99999999999999999999", .max),
            ("", nil),
            ("-", nil), ("+5", nil), ("5.5", nil), ("50,399", nil), ("5 5", nil), ("0x5", nil), ("٣", nil), ("007", 7),
        ] as [(String, Int64?)])
    func maxAge(value: String, expected: Int64?) throws {
        #expect(try SetCookie("a=b; Max-Age=\(value)").maxAge == expected)
    }

    @Test("Of several dates and ages the last that can be read counts")
    func lastReadable() throws {
        let cookie = try SetCookie(
            "a=b; Max-Age=1; Max-Age=2; Max-Age=x; Expires=1 Jan 2030 0:0:0; Expires=never; expires=2 Jan 2030 0:0:0")
        #expect(cookie.maxAge == 2)
        #expect(cookie.expires?.description == "Wed, 02 Jan 2030 00:00:00 GMT")
    }

    @Test("An attribute of more than 1024 bytes is passed over")
    func longAttribute() throws {
        let long = String(repeating: "x", count: 1024)
        #expect(try SetCookie("a=b; Path=/ok; Path=/\(long)").path == "/ok")
        #expect(try SetCookie("a=b; Path=/\(long.dropLast())").path?.count == 1024)
        #expect(try SetCookie("a=b; Secure=\(long)x").isSecure == false)
    }

    @Test("Any line is a cookie or a reason, and what it holds can be sent back")
    func anything() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let line = random.text(upTo: 40) + "=" + random.text(upTo: 10) + "; max-age=" + random.text(upTo: 4)
            guard let cookie = try? SetCookie(line) else { continue }
            var headers = HTTPHeaders()
            headers.append(.cookie, "\(cookie.name)=\(cookie.value)")
            #expect(headers.problem == nil, "seed \(seed)")
        }
    }
}
