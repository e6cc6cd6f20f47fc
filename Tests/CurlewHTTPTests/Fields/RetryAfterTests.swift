// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct RetryAfterTests {
    private func delay(_ value: String) -> Duration? {
        let headers: HTTPHeaders = [.retryAfter: value]
        return headers.retryAfter(now: Date(timeIntervalSince1970: 946_684_700))
    }

    @Test(
        "Seconds and dates are read, never negative and never beyond the cap",
        arguments: [
            ("120", .seconds(120)), ("0", .zero), ("Fri, 31 Dec 1999 23:59:59 GMT", .seconds(99)),
            ("Fri, 31 Dec 1999 23:58:20 GMT", .zero), ("Thu, 01 Jan 1970 00:00:10 GMT", .zero),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(2_147_483_647)), ("2147483648", .seconds(2_147_483_647)),
            ("99999999999999999999999999", .seconds(2_147_483_647)),
        ] as [(String, Duration)])
    func delays(value: String, expected: Duration) {
        #expect(delay(value) == expected)
    }

    @Test("Other values are refused", arguments: ["", "-1", "+5", "1.5", "5 5", "5s", "soon", "0x10", "٥"])
    func refused(text: String) {
        #expect(delay(text) == nil)
    }

    @Test("Without the field there is no delay")
    func absent() {
        #expect(HTTPHeaders().retryAfter(now: Date()) == nil)
    }
}
