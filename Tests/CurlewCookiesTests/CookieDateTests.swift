// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies

@Suite(.timeLimit(.minutes(1)))
struct CookieDateTests {
    /// Dates that servers were seen to write, collected by the authors of RFC 6265 (http-state,
    /// tests/data/dates/examples).
    @Test(
        "Dates in the forms that servers write are read",
        arguments: [
            ("Mon, 10-Dec-2007 17:02:24 GMT", "Mon, 10 Dec 2007 17:02:24 GMT"),
            ("Wed, 09 Dec 2009 16:27:23 GMT", "Wed, 09 Dec 2009 16:27:23 GMT"),
            ("Thursday, 01-Jan-1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("Mon Dec 10 16:32:30 2007 GMT", "Mon, 10 Dec 2007 16:32:30 GMT"),
            ("Wednesday, 01-Jan-10 00:00:00 GMT", "Fri, 01 Jan 2010 00:00:00 GMT"),
            ("Mon, 10-Dec-07 20:35:03 GMT", "Mon, 10 Dec 2007 20:35:03 GMT"),
            ("Wed, 1 Jan 2020 00:00:00 GMT", "Wed, 01 Jan 2020 00:00:00 GMT"),
            ("Saturday, 8-Dec-2012 21:24:09 GMT", "Sat, 08 Dec 2012 21:24:09 GMT"),
            ("Thu, 31 Dec 23:55:55 2037 GMT", "Thu, 31 Dec 2037 23:55:55 GMT"),
            ("Sun,  9 Dec 2012 13:42:05 GMT", "Sun, 09 Dec 2012 13:42:05 GMT"),
            ("Wed Dec 12 2007 08:44:07 GMT-0500 (EST)", "Wed, 12 Dec 2007 08:44:07 GMT"),
            ("Wednesday, 01-Jan-10 0:0:00 GMT", "Fri, 01 Jan 2010 00:00:00 GMT"),
            ("Thu, 10 Dec 2009 13:57:2 GMT", "Thu, 10 Dec 2009 13:57:02 GMT"),
        ])
    func observed(text: String, expected: String) {
        #expect(HTTPDate(cookieDate: text)?.description == expected)
    }

    @Test(
        "Tokens may stand in any order, between any delimiters, with anything behind",
        arguments: [
            "15 Apr 2017 21:01:22", "2017 april 15 21:01:22", "apr 15 17 21:01:22", "15 17 Apr 21:01:22",
            "21:01:22 Sat 15 APR 2017", "15/Apr\\2017 21:01:22", "15-Sat, Apr-17 21:01:22 GMT",
            "15aprilis aprilis 17x 21:01:22z",
            "Sat,15-Apr-17 21:01:22 11:22:33", "Sat, 15-Apr-17 boink:z 21:01:22", "Sat, 15-Apr-17 ::00 21:01:22",
            "15 apr 2017 21:01:22 -0400 (EDT)", "; 15 apr 2017,21:01:22",
        ])
    func anyOrder(text: String) {
        #expect(HTTPDate(cookieDate: text)?.description == "Sat, 15 Apr 2017 21:01:22 GMT")
    }

    @Test(
        "Two digits of a year count from 1970 to 2069",
        arguments: [("00", 2000), ("69", 2069), ("70", 1970), ("99", 1999), ("1601", 1601)])
    func years(text: String, year: Int) {
        #expect(HTTPDate(cookieDate: "1 Jan \(text) 00:00:00")?.description.contains(" \(year) ") == true)
    }

    @Test(
        "Text that is no date is refused",
        arguments: [
            "", "IAintNoDateFool", "15 Apr 2017", "Apr 2017 21:01:22", "15 2017 21:01:22", "15 Apr 21:01:22",
            "15 Apr 2017 24:00:00", "15 Apr 2017 21:60:00", "15 Apr 2017 21:01:60", "0 Apr 2017 21:01:22",
            "32 Apr 2017 21:01:22", "31 Apr 2017 21:01:22", "29 Feb 2017 21:01:22", "15 Apr 1600 21:01:22",
            "012-Aug-2008 20:49:07", "12-Aug-31841 20:49:07", "12-Aug-9999999999 20:49:07",
            "15-Apr-17 91:22:33 21:01:22",
            "12-Aug-2007 20:61:99999999999", "98 April 17 21:01:22", "15 Apr 2017 21:01", "15 Apr 2017 021:01:22",
        ])
    func refused(text: String) {
        #expect(HTTPDate(cookieDate: text) == nil)
    }

    @Test("Any text is a date or none, and never traps")
    func anything() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "1", "29", "feb", "Dec", "1999", "::", "23:59:59", "99:99:99", " ", "-", "99999999999999999999", "é",
        ]
        for _ in 0..<2000 {
            let text = (0..<8).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined(
                separator: " ")
            guard let date = HTTPDate(cookieDate: text) else { continue }
            #expect(HTTPDate(cookieDate: date.description) == date, "seed \(seed): \(text)")
        }
    }
}
