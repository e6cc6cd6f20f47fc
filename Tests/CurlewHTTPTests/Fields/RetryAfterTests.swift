// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct RetryAfterTests {
    @Test("The two examples of RFC 9110 §10.2.3 are read")
    func examples() {
        #expect(RetryAfter("120") == .seconds(120))
        #expect(
            RetryAfter("Fri, 31 Dec 1999 23:59:59 GMT") == .date(HTTPDate(secondsSince1970: 946_684_799)))
    }

    @Test("Other values are refused", arguments: ["", "-1", "+5", "1.5", " 5", "5s", "soon", "0x10", "٥"])
    func refused(text: String) {
        #expect(RetryAfter(text) == nil)
    }

    @Test("A number too large for the clock is capped")
    func huge() {
        #expect(RetryAfter("99999999999999999999999999") == .seconds(2_147_483_647))
        #expect(RetryAfter("2147483648") == .seconds(2_147_483_647))
    }

    @Test(
        "A delay is never negative and never beyond the cap",
        arguments: [
            (.seconds(0), .zero), (.seconds(-5), .zero), (.seconds(30), .seconds(30)),
            (.seconds(.max), .seconds(2_147_483_647)),
            (.date(HTTPDate(secondsSince1970: 1090)), .seconds(90)),
            (.date(HTTPDate(secondsSince1970: 1000)), .zero),
            (.date(HTTPDate(secondsSince1970: 10)), .zero),
            (.date(HTTPDate(secondsSince1970: .max)), .seconds(2_147_483_647)),
        ] as [(RetryAfter, Duration)])
    func delays(value: RetryAfter, expected: Duration) {
        #expect(value.delay(now: Date(timeIntervalSince1970: 1000)) == expected)
    }
}
