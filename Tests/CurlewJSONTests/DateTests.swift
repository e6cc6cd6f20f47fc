// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DateTests {
    @Test(arguments: [
        "0", "1.5", "-1e9", "1767225600.25", "null", "true", "\"x\"", "[]", "{}", "\"2026-11-22T10:30:00Z\"",
    ])
    func strategiesReadAlike(value: String) {
        struct Model: Decodable, Equatable {
            var when: Date
            var then: Date?
        }
        for pair in [
            Pair(), Pair(keys: .useDefaultKeys, dates: .secondsSince1970),
            Pair(keys: .useDefaultKeys, dates: .millisecondsSince1970),
        ] {
            pair.expectSame(Date.self, value)
            pair.expectSame([Date].self, "[\(value)]")
            pair.expectSame(Model.self, "{\"when\":\(value)}")
            pair.expectSame(Model.self, "{\"when\":0,\"then\":\(value)}")
            pair.expectSame([String: Date].self, "{\"a\":\(value)}")
        }
    }

    /// Ours for the common form, Foundation's for the rest: both say the same of either.
    @Test(arguments: [
        "2026-11-22T10:30:00Z", "1970-01-01T00:00:00Z", "2000-02-29T23:59:59Z", "2100-02-28T00:00:00Z",
        "1999-12-31T00:00:00Z",
        "1600-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1582-10-10T00:00:00Z",
        "2024-02-29T12:00:00Z",
        "2026-11-22T10:30:00+01:00", "2026-11-22T10:30:00-0530", "2026-11-22", "2026-11-22T10:30:00",
        "2026-11-22 10:30:00Z",
        "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-22T24:00:00Z",
        "2026-11-22T10:60:00Z",
        "2026-11-22T10:30:60Z", "2026-11-22T10:30:00.5Z", "20261122T103000Z", "", "x", "2026-1-2T10:30:00Z",
        "+026-11-22T10:30:00Z",
        "2026-00-10T00:00:00Z", "2026-10-00T00:00:00Z", "2026-01-31T00:00:00Z", "2026-11-22t10:30:00z",
        " 2026-11-22T10:30:00Z",
    ])
    func iso8601DatesAreReadAsFoundationDoes(text: String) throws {
        let pair = Pair(keys: .useDefaultKeys, dates: .iso8601)
        let (expected, actual) = pair.outcomes(Date.self, Data("\"\(text)\"".utf8))
        #expect(expected == actual)
        // With fractions allowed, nothing else changes.
        let lenient = FastJSONDecoder(dates: .iso8601WithOrWithoutFractions)
        let date = try? lenient.decode(Date.self, from: Data("\"\(text)\"".utf8))
        if case .value(let expected) = expected { #expect(date == expected) }
    }

    @Test
    func everyDayOfALeapYearAndItsNeighbours() throws {
        let first = Date(timeIntervalSince1970: 1_672_531_200)
        for day in 0..<1_100 {
            let date = first.addingTimeInterval(Double(day) * 86_400 + 3_661)
            let text = date.formatted(Date.ISO8601FormatStyle())
            let decoder = FastJSONDecoder(dates: .iso8601)
            #expect(try decoder.decode(Date.self, from: Data("\"\(text)\"".utf8)) == date, "\(text)")
        }
    }

    @Test
    func fractionsAreReadWhereTheyAreAllowed() throws {
        let data = Data("[\"2026-11-22T10:30:00.250Z\",\"2026-11-22T10:30:00Z\"]".utf8)
        let dates = try FastJSONDecoder(dates: .iso8601WithOrWithoutFractions).decode([Date].self, from: data)
        #expect(dates.count == 2 && abs(dates[0].timeIntervalSince(dates[1]) - 0.25) < 1e-6)
        // Whether `.iso8601` reads fractions as well has changed between versions of Foundation.
        Pair(keys: .useDefaultKeys, dates: .iso8601).expectSame([Date].self, data)
    }

    @Test
    func aClosureDecides() throws {
        let decoder = FastJSONDecoder(
            dates: .custom { Date(timeIntervalSince1970: Double(try String(from: $0).count)) })
        let dates = try decoder.decode([String: Date].self, from: Data("{\"a\":\"four\"}".utf8))
        #expect(dates == ["a": Date(timeIntervalSince1970: 4)])
    }

    /// Foundation names the parent of the date.
    @Test
    func aBadDateNamesItsOwnPath() {
        let decoder = FastJSONDecoder(dates: .iso8601)
        let outcome = Outcome { try decoder.decode([String: [Date]].self, from: Data("{\"a\":[\"x\"]}".utf8)) }
        guard case .failure(let failure) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(failure.path == ["a", "Index 0"])
        #expect(failure.text == "Expected date string to be ISO8601-formatted.")
    }
}
