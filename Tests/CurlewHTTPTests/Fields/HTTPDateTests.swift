// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPDateTests {
    static let now = Date(timeIntervalSince1970: 1_750_000_000)

    @Test(
        "The three forms of RFC 9110 §5.6.7 are the same moment",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func threeForms(text: String) throws {
        let date = try #require(HTTPDate(text, now: Self.now))
        #expect(date.secondsSince1970 == 784_111_777)
        #expect(date.description == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        "Known moments are read and written",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
        ] as [(String, Int64)])
    func known(text: String, seconds: Int64) throws {
        #expect(try #require(HTTPDate(text, now: Self.now)).secondsSince1970 == seconds)
        #expect(HTTPDate(secondsSince1970: seconds).description == text)
    }

    @Test(
        "A two-digit year is never more than 50 years ahead",
        arguments: [
            // `now` is 15 June 2025, 15:06:40.
            ("Sunday, 15-Jun-75 15:06:40 GMT", "2075"), ("Sunday, 15-Jun-75 15:06:41 GMT", "1975"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "1994"), ("Sunday, 06-Nov-24 08:49:37 GMT", "2024"),
            ("Sunday, 01-Jan-00 00:00:00 GMT", "2000"),
        ])
    func twoDigitYears(text: String, year: String) throws {
        #expect(try #require(HTTPDate(text, now: Self.now)).description.contains(" \(year) "))
    }

    @Test("A two-digit year may lie in the next century")
    func nextCentury() throws {
        let late = HTTPDate("Wed, 01 Jan 2090 00:00:00 GMT")?.date ?? Date()
        #expect(try #require(HTTPDate("Monday, 01-Jan-05 00:00:00 GMT", now: late)).description.contains(" 2105 "))
    }

    @Test("A leap second is the second after it")
    func leapSecond() {
        #expect(HTTPDate("Sat, 31 Dec 2016 23:59:60 GMT")?.secondsSince1970 == 1_483_228_800)
    }

    @Test(
        "Other forms are refused",
        arguments: [
            "", "Sun", "Sun,", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun Nov  6 08:49:37 1994 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "784111777", "1994-11-06T08:49:37Z",
            "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        ])
    func refused(text: String) {
        #expect(HTTPDate(text, now: Self.now) == nil)
    }

    /// Every eleventh day: each day of the year comes in dozens of years.
    @Test("The days of eight centuries read back as written")
    func days() {
        let start: Int64 = -11_676_096_000  // 1 January 1600
        for day in stride(from: start, through: start + 800 * 366 * 86_400, by: 11 * 86_400) {
            let date = HTTPDate(secondsSince1970: day + (day / 86_400) % 86_400)
            #expect(HTTPDate(date.description, now: Self.now) == date)
        }
    }

    @Test(
        "Moments that cannot be written are clamped",
        arguments: [
            (Double.infinity, 253_402_300_799), (-.infinity, -62_167_219_200), (1e300, 253_402_300_799),
            (.nan, 0), (-0.5, -1), (1.9, 1), (1e14, 253_402_300_799),
        ] as [(Double, Int64)])
    func clamped(interval: Double, seconds: Int64) {
        #expect(HTTPDate(Date(timeIntervalSince1970: interval)).secondsSince1970 == seconds)
    }

    @Test("A date and its seconds are the same moment, in order")
    func conversion() {
        let date = HTTPDate(secondsSince1970: 784_111_777)
        #expect(date.date == Date(timeIntervalSince1970: 784_111_777))
        #expect(HTTPDate(date.date) == date)
        #expect(date < HTTPDate(secondsSince1970: 784_111_778))
    }
}
