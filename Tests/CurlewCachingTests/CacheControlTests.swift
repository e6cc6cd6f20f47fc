// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching

@Suite(.timeLimit(.minutes(1)))
struct CacheControlTests {
    @Test(arguments: [
        ("max-age=60", "max-age=60"),
        ("MAX-AGE=60, No-Store", "max-age=60, no-store"),
        (#"max-age="60""#, "max-age=60"),
        (#"private="Set-Cookie, X-Y", community="U\"C""#, #"private="Set-Cookie, X-Y", community="U\"C""#),
        (" , ,max-age=1 ,, no-cache,", "max-age=1, no-cache"),
        ("max-age=60,no-store , x=y", "max-age=60, no-store, x=y"),
        ("=5, max-age=1", "max-age=1"),
        ("", ""),
    ])
    func directivesAreRead(value: String, expected: String) {
        #expect(CacheControl(value).text == expected)
    }

    @Test(arguments: [
        ("max-age=60", 60), ("max-age=0", 0), (#"max-age="60""#, 60), ("max-age=060", 60), ("public", nil),
        ("max-age", 0), ("max-age=", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=a", 0), ("max-age=5 s", 0),
        ("max-age = 60", 0), ("max-age= 60", 0), ("max-age=+5", 0), ("max-age=0x10", 0), ("max-age=\"60", 0),
        ("max-age=60, max-age=60", 60), ("max-age=60, max-age=1", 0), ("max-age=60, MAX-AGE=x", 0),
        ("max-age=2147483648", 2_147_483_648), ("max-age=2147483649", 2_147_483_648),
        ("max-age=99999999999999999999999999", 2_147_483_648), ("x-max-age=60", nil), ("max-age=٦٠", 0),
    ])
    func secondsAreReadAndBounded(value: String, expected: Int?) {
        #expect(CacheControl(value).seconds("max-age") == expected)
    }

    @Test(arguments: [
        "no-store", "NO-STORE", "no-store=1", #"no-store="x""#, "no-store x", #"a="b, no-store"#, "max-age=5 ,no-store",
        "no-store=", #"no-cache="x, no-store, max-age=5"#,
    ])
    func findsWhatForbids(value: String) {
        #expect(CacheControl(value).contains("no-store"))
    }

    @Test(arguments: ["no-stores", "xno-store", #"a="no-store""#, "a=no-store", "no store"])
    func findsNothingElse(value: String) {
        #expect(!CacheControl(value).contains("no-store"))
    }

    @Test(arguments: [("public", true), ("public=1", false), ("public x", false), (#"public="""#, false)])
    func permitsOnlyWhatIsWellFormed(value: String, expected: Bool) {
        #expect(CacheControl(value).permits("public") == expected)
    }

    @Test(arguments: [
        ("max-age=1", nil), ("no-cache", []), (#"no-cache="a""#, ["a"]), (#"no-cache=" a ,, b ""#, ["a", "b"]),
        ("no-cache=a", ["a"]), (#"no-cache="""#, []), (#"no-cache="a b""#, []), (#"no-cache="a", no-cache"#, []),
        (#"no-cache="a", no-cache="b""#, ["a", "b"]), ("no-cache=", []), (#"no-cache="a" x"#, []),
    ])
    func readsFieldNames(value: String, expected: [HTTPField.Name]?) {
        #expect(CacheControl(value).fieldNames("no-cache") == expected)
    }

    @Test
    func severalFieldsAreOneList() {
        #expect(CacheControl([.cacheControl: "max-age=5", .cacheControl: "no-store"]).contains("no-store"))
    }

    @Test
    func keepsABoundedNumber() {
        let value = (0..<1000).map { "d\($0)" }.joined(separator: ",")
        #expect(CacheControl(value).directives.count == 64)
    }

    @Test(arguments: 1...300)
    func anyTextIsReadTheSameFromItsDescription(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = ["max-age", "=", ",", "\"", "\\", " ", "no-store", "5", "é", "\t", ";", "private", "?1", "(", ")"]
        for _ in 0..<30 {
            var text = random.text(upTo: 12)
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                text += pieces.randomElement(using: &random) ?? ""
            }
            let control = CacheControl(text)
            let seconds = control.seconds("max-age")
            #expect(
                seconds == nil || (0...CacheControl.maximumSeconds).contains(seconds ?? -1), "seed \(seed): \(text)")
            let again = CacheControl(control.text)
            #expect(again.directives.map(\.name) == control.directives.map(\.name), "seed \(seed): \(text)")
        }
    }
}

extension CacheControl {
    /// The directives as the value of a `Cache-Control` field. Arguments that are not tokens are quoted.
    fileprivate var text: String {
        directives.map { directive in
            guard let argument = directive.argument else { return directive.name }
            if HTTPField.Name(argument).isValid { return "\(directive.name)=\(argument)" }
            // Iterates over scalars: a quote followed by a combining mark still ends a quoted string.
            let escaped = argument.unicodeScalars.reduce(into: "") { text, scalar in
                if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
                text.unicodeScalars.append(scalar)
            }
            return "\(directive.name)=\"\(escaped)\""
        }.joined(separator: ", ")
    }
}
