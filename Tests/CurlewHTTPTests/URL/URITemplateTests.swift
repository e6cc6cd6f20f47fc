// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(1)))
struct URITemplateTests {
    static let variables: [String: URITemplate.Value] = [
        "id": "7", "n": "a b", "slash": "a/b", "dots": "..", "umlaut": "ä", "emoji": "🦊🐦", "flag": "e\u{301}x",
        "encoded": "a%20b%2Fc", "broken": "100%", "half": "50%2", "amp": "a&b=c", "hash": "a#b?c", "plus": "1+1",
        "empty": "", "list": ["a", "b c"], "one": ["x"], "blank": ["", "y"], "none": [], "map": ["k": "v", "ä": "ö/"],
        "void": [:], "hollow": ["k": "", "": "v"], "a.b": "dotted", "_u": "under", "%41": "percent", "A1": "mixed",
        "bracket": "[1]", "quote": "'\"", "control": "\u{0}\n", "tilde": "~-._", "bytes": "%C3%A4%C3%B6z",
    ]

    @Test(
        "own examples",
        arguments: [
            // Literals.
            ("", ""), ("/films", "/films"), ("/a?b=c#d", "/a?b=c#d"), ("/%41%2f", "/%41%2f"),
            ("/ä", "/%C3%A4"), ("/🦊", "/%F0%9F%A6%8A"), ("it's", "it's"), ("!$&()*+,;=:@[]~", "!$&()*+,;=:@[]~"),
            ("\u{10FFFD}", "%F4%8F%BF%BD"), ("https://h:1/{id}", "https://h:1/7"),
            // Simple.
            ("{id}", "7"), ("{id}{id}", "77"), ("{n}", "a%20b"), ("{slash}", "a%2Fb"), ("{dots}", ".."),
            ("{umlaut}", "%C3%A4"), ("{emoji}", "%F0%9F%A6%8A%F0%9F%90%A6"), ("{encoded}", "a%2520b%252Fc"),
            ("{broken}", "100%25"), ("{amp}", "a%26b%3Dc"), ("{hash}", "a%23b%3Fc"), ("{plus}", "1%2B1"),
            ("{bracket}", "%5B1%5D"), ("{quote}", "%27%22"), ("{control}", "%00%0A"), ("{tilde}", "~-._"),
            ("{missing}", ""), ("{missing,id}", "7"), ("{id,missing}", "7"), ("{empty,id}", ",7"),
            ("{empty,empty}", ","), ("{none,id}", "7"), ("{void}", ""), ("{list,id}", "a,b%20c,7"),
            ("{blank}", ",y"), ("{blank*}", ",y"), ("{map}", "k,v,%C3%A4,%C3%B6%2F"),
            ("{map*}", "k=v,%C3%A4=%C3%B6%2F"),
            ("{hollow*}", "k=,=v"), ("{a.b}", "dotted"), ("{_u}", "under"), ("{%41}", "percent"), ("{A1}", "mixed"),
            ("{one*}", "x"),
            // Prefixes count code points.
            ("{emoji:1}", "%F0%9F%A6%8A"), ("{flag:1}", "e"), ("{flag:2}", "e%CC%81"), ("{id:9999}", "7"),
            ("{empty:3}", ""), ("{slash:2}", "a%2F"), ("{encoded:2}", "a%25"), ("{encoded:4}", "a%2520"),
            // Reserved expansion copies reserved and encoded text.
            ("{+slash}", "a/b"), ("{+encoded}", "a%20b%2Fc"), ("{+broken}", "100%25"), ("{+half}", "50%252"),
            ("{+amp}", "a&b=c"), ("{+hash}", "a#b?c"), ("{+plus}", "1+1"), ("{+bracket}", "[1]"),
            ("{+quote}", "'%22"), ("{+control}", "%00%0A"), ("{+umlaut}", "%C3%A4"), ("{+n}", "a%20b"),
            ("{+encoded:1}", "a"), ("{+encoded:2}", "a%20"), ("{+encoded:3}", "a%20b"), ("{+encoded:4}", "a%20b%2F"),
            ("{+bytes:1}", "%C3%A4"), ("{+bytes:2}", "%C3%A4%C3%B6"), ("{+bytes:3}", "%C3%A4%C3%B6z"),
            ("{+half:3}", "50%25"), ("{+list}", "a,b%20c"), ("{+map*}", "k=v,%C3%A4=%C3%B6/"), ("{+none}", ""),
            // The other operators.
            ("{#slash,n}", "#a/b,a%20b"), ("{#none}", ""), ("{#empty}", "#"), ("{#hash}", "#a#b?c"),
            ("x{.id,n}", "x.7.a%20b"), ("x{.none,id}", "x.7"), ("x{.one*}", "x.x"),
            ("x{.map*}", "x.k=v.%C3%A4=%C3%B6%2F"),
            ("{/id,slash}", "/7/a%2Fb"), ("{/list*}", "/a/b%20c"), ("{/blank*}", "//y"), ("{/empty}", "/"),
            ("{/hollow*}", "/k=/=v"), ("{/missing}", ""), ("{;id,empty}", ";id=7;empty"),
            ("{;blank*}", ";blank;blank=y"),
            ("{;hollow*}", ";k;=v"), ("{;list}", ";list=a,b%20c"), ("{;blank}", ";blank=,y"),
            ("{?id,n}", "?id=7&n=a%20b"),
            ("{?empty}", "?empty="), ("{?missing}", ""), ("{?missing,id}", "?id=7"),
            ("{?list*,id}", "?list=a&list=b%20c&id=7"),
            ("{?hollow*}", "?k=&=v"), ("{?a.b,%41}", "?a.b=dotted&%41=percent"), ("{?amp}", "?amp=a%26b%3Dc"),
            ("{?map}", "?map=k,v,%C3%A4,%C3%B6%2F"), ("?a=1{&id}", "?a=1&id=7"), ("{&one*}", "&one=x"),
            ("{&missing,empty}", "&empty="), ("/{id}{?n}{#id}", "/7?n=a%20b#7"),
        ] as [(String, String)])
    func own(template: String, expected: String) throws {
        #expect(try URITemplate(template).expand(Self.variables) == expected)
    }

    @Test(
        "malformed templates are refused with their position",
        arguments: [
            ("{", 0), ("/a{", 2), ("/{id", 1), ("{id}}", 4), ("}", 0), ("a}b", 1), ("{}", 1), ("{?}", 2), ("{,}", 1),
            ("{id,}", 4), ("{,id}", 1), ("{id,,n}", 4), ("{id n}", 3), ("{ id}", 1), ("{id }", 3), ("{{id}}", 1),
            ("{id{n}}", 3), ("{a-b}", 2), ("{ä}", 1), ("{.}", 2), ("{a.}", 2), ("{a..b}", 2), ("{..a}", 2),
            ("{%4}", 1), ("{%zz}", 1), ("{a%}", 2), ("{=a}", 1), ("{,a}", 1), ("{!a}", 1), ("{@a}", 1), ("{|a}", 1),
            ("{$a}", 1), ("{*a}", 1), ("{:3}", 1), ("{??a}", 2), ("{/?a}", 2), ("{a?}", 2), ("{a+}", 2), ("{a*b}", 3),
            ("{a**}", 3), ("{a:}", 3), ("{a:0}", 3), ("{a:01}", 3), ("{a:10000}", 3), ("{a:-1}", 3), ("{a:3x}", 4),
            ("{a:3*}", 4), ("{a*:3}", 3), ("{a:x}", 3), ("{a=b}", 2), ("{-join|&|a}", 1), ("{~a}", 1), ("a b", 1),
            ("a\tb", 1), ("a\u{7F}", 1), ("a\u{85}", 1), ("a\nb", 1), ("a\"b", 1), ("<", 0), (">", 0), ("a\\b", 1),
            ("^", 0),
            ("`", 0), ("|", 0), ("%", 0), ("%4", 0), ("%4g", 0), ("/100%/", 4), ("ä}", 2),
        ] as [(String, Int)])
    func malformed(template: String, position: Int) throws {
        let error = try #require(throws: URITemplate.SyntaxError.self) { try URITemplate(template) }
        #expect(error.position == position, "\(error)")
        let literal = URITemplate(stringLiteral: template)
        #expect(literal.problem == error && literal.text == template)
        #expect(throws: error) { try literal.expand([:]) }
    }

    @Test(
        "a prefix of a list or an associative array is refused", arguments: ["{a}/{list:3}", "{?map:1}", "{+list:2}"])
    func compositePrefix(template: String) throws {
        let template = try URITemplate(template)
        let error = try #require(throws: URITemplate.SyntaxError.self) { try template.expand(Self.variables) }
        #expect(!error.message.contains("b c") && (0...4).contains(error.position))
    }

    @Test("a template that is too long is refused")
    func long() throws {
        _ = try URITemplate(String(repeating: "a", count: 8192))
        #expect(throws: URITemplate.SyntaxError.self) { try URITemplate(String(repeating: "a", count: 8193)) }
    }

    @Test("names, equality and coding")
    func values() throws {
        let template: URITemplate = "/{a}{?b*,a}{#c:3}"
        #expect(template.variableNames == ["a", "b", "c"] && template.problem == nil && "\(template)" == template.text)
        #expect(template == "/{a}{?b*,a}{#c:3}" && template != "/{a}" && template.hashValue == template.hashValue)
        let data = try JSONEncoder().encode(["t": template])
        #expect(try JSONDecoder().decode([String: URITemplate].self, from: data)["t"] == template)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([URITemplate].self, from: Data(#"["/{a"]"#.utf8))
        }
    }

    @Test("random templates either parse or are refused, and expand to URI characters only")
    func fuzz() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", "?", "+", "#", ".", "/", ";", "&", ",", ":3", "*", "%", "%41", "id", "list", "map", "n", "x", " ",
            "ä",
        ]
        var parsed = 0
        for _ in 0..<20_000 {
            var text = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            if Int.random(in: 0..<8, using: &random) == 0 { text += random.text(upTo: 6) }
            let value = URITemplate.Value.text(random.text(upTo: 8))
            var variables = Self.variables
            variables["x"] = value
            guard let template = try? URITemplate(text), let result = try? template.expand(variables) else { continue }
            parsed += 1
            let isClean = result.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}".utf8.contains(byte)
            }
            #expect(isClean, "seed \(seed): \(text) became \(result)")
        }
        #expect(parsed > 1000, "seed \(seed)")
    }
}
