// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct PercentCodingTests {
    @Test(
        "Each component has its table",
        arguments: [
            (.pathSegment, "a/b c?d#e%", "a%2Fb%20c%3Fd%23e%25"), (.path, "a/b c?d", "a/b%20c%3Fd"),
            (.pathSegment, "!$&'()*+,;=:@-._~", "!$&'()*+,%3B=:@-._~"), (.pathSegment, "\\[]", "%5C%5B%5D"),
            (.queryName, "a b&c=d", "a%20b%26c%3Dd"), (.queryValue, "a+b#c;d'e", "a%2Bb%23c%3Bd%27e"),
            (.queryValue, "x/y?z:@,!", "x/y?z:@,!"), (.fragment, "a/b?c#d", "a/b?c%23d"),
            (.userinfo, "us:er@x", "us%3Aer%40x"), (.formValue, "a b+c~d", "a+b%2Bc%7Ed"),
            (.queryValue, "Łódź ✓", "%C5%81%C3%B3d%C5%BA%20%E2%9C%93"), (.pathSegment, "\u{0}\r\n", "%00%0D%0A"),
            (.queryName, "filter[x]", "filter%5Bx%5D"),
        ] as [(PercentCoding.Component, String, String)])
    func tables(component: PercentCoding.Component, text: String, expected: String) {
        #expect(PercentCoding.encode(text, for: component) == expected)
    }

    @Test(
        "Decoding is strict",
        arguments: [
            ("abc", "abc"), ("%41%6a%6A", "Ajj"), ("a+b", "a+b"), ("%E2%9C%93", "✓"), ("%EF%BF%BD", "\u{FFFD}"),
            ("%", nil), ("%4", nil), ("%4g", nil), ("%zz", nil), ("%%41", nil), ("%FF", nil), ("%C3", nil),
            ("%ED%A0%80", nil), ("%+1", nil),
        ] as [(String, String?)])
    func decoding(text: String, expected: String?) {
        #expect(PercentCoding.decode(text) == expected)
    }

    @Test("A form's plus is a space")
    func form() {
        #expect(PercentCoding.decode("a+b%2Bc", plusAsSpace: true) == "a b+c")
        #expect(PercentCoding.decode("a%2", plusAsSpace: true) == nil)
    }

    @Test("Random text comes back from every component", arguments: PercentCoding.Component.allCases)
    func roundTrip(component: PercentCoding.Component) {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let text = random.text(upTo: 40)
            let encoded = PercentCoding.encode(text, for: component)
            let decoded =
                PercentCoding.decode(encoded, plusAsSpace: component == .formValue)
            #expect(decoded == text, "seed \(seed)")
            #expect(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "seed \(seed)")
        }
    }
}
