// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// A date and time in whole seconds, as used in HTTP fields (RFC 9110 §5.6.7).
///
/// Covers the years 0 to 9999. Dates outside this range are clamped, so that every value can be formatted.
public struct HTTPDate: Hashable, Comparable, Sendable {
    /// The number of seconds since 1 January 1970 00:00:00 UTC, without leap seconds.
    let secondsSince1970: Int64

    init(secondsSince1970: Int64) {
        self.secondsSince1970 = min(max(secondsSince1970, CivilTime.earliest), CivilTime.latest)
    }

    /// Creates a date from a Foundation date, rounded down to the second. A date that is not a number becomes 1 January
    /// 1970.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        if seconds.isNaN {
            self.init(secondsSince1970: 0)
        } else if seconds.magnitude < 1e15 {
            self.init(secondsSince1970: Int64(seconds))
        } else {
            self.init(secondsSince1970: seconds < 0 ? .min : .max)
        }
    }

    /// Parses a date in one of the three formats that a recipient must accept. Returns `nil` for anything else.
    ///
    /// - `Sun, 06 Nov 1994 08:49:37 GMT`
    /// - `Sunday, 06-Nov-94 08:49:37 GMT` (RFC 850; the two-digit year is at most 50 years after `now`)
    /// - `Sun Nov  6 08:49:37 1994` (asctime)
    ///
    /// The weekday must be a valid name, but it need not match the date.
    public init?(_ string: String, now: Date = Date()) {
        guard string.utf8.count <= 40, let time = HTTPDateReader.read(string, now: HTTPDate(now)) else { return nil }
        self.init(secondsSince1970: time.secondsSince1970)
    }

    /// Creates a date in UTC. Returns nil if the date does not exist. Second 60 is accepted as a leap second.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard time.isValid else { return nil }
        self.init(secondsSince1970: time.secondsSince1970)
    }

    /// The same date as a Foundation `Date`.
    public var date: Date {
        Date(timeIntervalSince1970: Double(secondsSince1970))
    }

    /// Returns whether the left date is earlier.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The date in the preferred format of HTTP: "Sun, 06 Nov 1994 08:49:37 GMT".
    public var description: String {
        let time = CivilTime(secondsSince1970: secondsSince1970)
        let day = CivilTime.weekdays[time.weekday].prefix(3)
        let month = CivilTime.months[time.month - 1]
        return "\(day), \(padded(time.day)) \(month) \(padded(time.year, 4)) "
            + "\(padded(time.hour)):\(padded(time.minute)):\(padded(time.second)) GMT"
    }

    /// The date and time of UTC in ISO 8601 format, without a zone designator: "1994-11-06T08:49:37".
    package var isoText: String {
        let time = CivilTime(secondsSince1970: secondsSince1970)
        return "\(padded(time.year, 4))-\(padded(time.month))-\(padded(time.day))T"
            + "\(padded(time.hour)):\(padded(time.minute)):\(padded(time.second))"
    }

    private func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// A parser for the date formats of RFC 9110 §5.6.7. Names and "GMT" are case-sensitive. A cache parses dates at every
/// lookup. The parser works on slices of a byte buffer, because substrings would need reference counting.
struct HTTPDateReader {
    private var remainder: Slice<UnsafeBufferPointer<UInt8>>

    static func read(_ text: String, now: HTTPDate) -> CivilTime? {
        var text = text
        return text.withUTF8 { read($0[...], now: now) }
    }

    private static func read(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, now: HTTPDate) -> CivilTime? {
        var reader = HTTPDateReader(remainder: bytes)
        guard let weekday = reader.word() else { return nil }
        let time: CivilTime?
        if reader.take(",") {
            let isLong = CivilTime.weekdays.contains(weekday)
            guard isLong || shortWeekdays.contains(weekday), reader.take(" ") else { return nil }
            time = isLong ? reader.rfc850(now: now) : reader.fixdate()
        } else {
            guard shortWeekdays.contains(weekday), reader.take(" ") else { return nil }
            time = reader.asctime()
        }
        guard let time, time.isValid, reader.remainder.isEmpty else { return nil }
        return time
    }

    private mutating func fixdate() -> CivilTime? {
        guard let day = number(2), take(" "), let month = month(), take(" "), let year = number(4), take(" "),
            let clock = clock(), take(" GMT")
        else { return nil }
        return CivilTime(year: year, month: month, day: day, clock: clock)
    }

    private mutating func rfc850(now: HTTPDate) -> CivilTime? {
        guard let day = number(2), take("-"), let month = month(), take("-"), let year = number(2), take(" "),
            let clock = clock(), take(" GMT")
        else { return nil }
        var limit = CivilTime(secondsSince1970: now.secondsSince1970)
        var time = CivilTime(year: limit.year / 100 * 100 + 100 + year, month: month, day: day, clock: clock)
        limit.year += 50
        while time.secondsSince1970 > limit.secondsSince1970 { time.year -= 100 }
        return time
    }

    private mutating func asctime() -> CivilTime? {
        guard let month = month(), take(" "), let day = take(" ") ? number(1) : number(2), take(" "),
            let clock = clock(), take(" "), let year = number(4)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, clock: clock)
    }

    private mutating func clock() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2) else {
            return nil
        }
        return (hour, minute, second)
    }

    private mutating func month() -> Int? {
        guard let name = word(), let index = CivilTime.months.firstIndex(of: name) else { return nil }
        return index + 1
    }

    private mutating func word() -> String? {
        let letters = remainder.prefix(while: ASCII.isLetter)
        remainder = remainder[letters.endIndex...]
        return letters.isEmpty ? nil : String(decoding: letters, as: UTF8.self)
    }

    private mutating func number(_ digits: Int) -> Int? {
        let bytes = remainder.prefix(digits)
        guard bytes.count == digits, let value = ASCII.decimal(bytes) else { return nil }
        remainder = remainder[bytes.endIndex...]
        return value
    }

    private mutating func take(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            guard remainder.starts(with: expected) else { return false }
            remainder = remainder.dropFirst(expected.count)
            return true
        }
    }

    private static let shortWeekdays = CivilTime.weekdays.map { String($0.prefix(3)) }
}

extension CivilTime {
    fileprivate init(year: Int, month: Int, day: Int, clock: (hour: Int, minute: Int, second: Int)) {
        self.init(
            year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    }
}

/// A date and time of day in UTC, in the proleptic Gregorian calendar. Needs no formatter or time zone database.
struct CivilTime {
    var year: Int
    /// The month, 1–12.
    var month: Int
    /// The day of the month, 1–31.
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// The first second of the year 0, in seconds since 1970.
    static let earliest: Int64 = -62_167_219_200
    /// The last second of the year 9999, in seconds since 1970.
    static let latest: Int64 = 253_402_300_799

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The day of the week, from 0 for Sunday to 6 for Saturday.
    var weekday: Int {
        let days = Self.days(year: year, month: month, day: day)
        return ((days + 4) % 7 + 7) % 7
    }

    /// Whether the date and time exist. Second 60 is allowed for leap seconds.
    var isValid: Bool {
        (1...12).contains(month) && (1...Self.length(ofMonth: month, year: year)).contains(day)
            && (0...23).contains(hour) && (0...59).contains(minute) && (0...60).contains(second)
    }

    var secondsSince1970: Int64 {
        let days = Self.days(year: year, month: month, day: day)
        return Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// Returns the days since 1 January 1970. The calculation begins years in March, so that a leap day is the last day
    /// of its year. The calendar repeats every 400 years.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CivilTime {
    init(secondsSince1970 seconds: Int64) {
        let ofDay = ((seconds % 86_400) + 86_400) % 86_400
        let shifted = Int((seconds - ofDay) / 86_400) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = Int(ofDay / 3600)
        minute = Int(ofDay / 60 % 60)
        second = Int(ofDay % 60)
    }
}
