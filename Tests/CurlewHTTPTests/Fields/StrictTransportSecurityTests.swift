// SPDX-License-Identifier: MIT

import CurlewHTTP
import Testing

/// RFC 6797 §6.1.
@Suite(.timeLimit(.minutes(1)))
struct StrictTransportSecurityTests {
    @Test(
        "what servers write",
        arguments: [
            ("max-age=31536000", 31_536_000, false), ("max-age=15768000 ; includeSubDomains", 15_768_000, true),
            ("max-age=\"31536000\"", 31_536_000, false), ("MAX-AGE=0; INCLUDESUBDOMAINS", 0, true),
            ("includeSubDomains; max-age=5; preload;", 5, true), ("; ; max-age=5", 5, false),
            ("max-age=5;a=\"b;includeSubDomains\"", 5, false), ("max-age = 5\t;\tnew", 5, false),
            ("max-age=99999999999999999999", 3_153_600_000, false), ("max-age=\"\\5\"", 5, false),
        ] as [(String, Int64, Bool)])
    func readable(text: String, age: Int64, includesSubdomains: Bool) {
        let expected = StrictTransportSecurity(maxAge: age, includesSubdomains: includesSubdomains)
        #expect(StrictTransportSecurity(text) == expected)
    }

    @Test(
        "what breaks the grammar does not count",
        arguments: [
            "", ";", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=+5", "max-age=5s",
            "max-age=1.5",
            "max-age=5; max-age=6", "max-age=5; includeSubDomains; includesubdomains", "max-age=5 6", "max-age=5, a",
            "max-age=\"5", "max-age=5; includeSubDomains=1", "max-age=5; =x", "max-age=5; a=\"\\", "max-age=\"\"",
            // A quotation mark with a combining one behind it is another character, and still that byte.
            "max-age=5; a=\"b\"\u{301}; includeSubDomains", "max-age=٥", "max-age=5;\u{301}includeSubDomains",
        ])
    func unreadable(text: String) {
        #expect(StrictTransportSecurity(text) == nil)
    }
}
