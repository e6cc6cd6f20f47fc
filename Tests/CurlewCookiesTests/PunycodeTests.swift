// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies

@Suite(.timeLimit(.minutes(1)))
struct PunycodeTests {
    /// The first four are from RFC 3492 §7.1 (A, C, F, L); the others are names of the DNS.
    @Test(
        "Labels outside ASCII get their xn-- form",
        arguments: [
            ("ليهمابتكلموشعربي؟", "xn--egbpdaj6bu4bxfgehfvwxn"), ("他們爲什麽不說中文", "xn--ihqwctvzc91f659drss3x8bo0yb"),
            ("למההםפשוטלאמדבריםעברית", "xn--4dbcagdahymbxekheh6e0a7fei0b"),
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"),
            ("公司.cn", "xn--55qx5d.cn"), ("bücher.example", "xn--bcher-kva.example"), ("plain.example", "plain.example"),
            ("個人.hk", "xn--gmqw5a.hk"), ("संगठन", "xn--i1b6b1a6a2e"), ("", ""),
        ])
    func names(name: String, expected: String) {
        #expect(Punycode.encodeName(name) == expected)
    }

    @Test("A label that is too long is no name")
    func tooLong() {
        #expect(Punycode.encodeName(String(repeating: "ü", count: 64)) == nil)
        #expect(Punycode.encodeName(String(repeating: "ü", count: 63)) != nil)
    }
}
