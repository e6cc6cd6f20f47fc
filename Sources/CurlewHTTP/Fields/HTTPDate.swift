// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// A date and time in whole seconds, as used in HTTP fields (RFC 9110 §5.6.7).
///
/// Covers the years 0 to 9999. Dates outside this range are clamped, so that every value can be formatted.
public struct HTTPDate: Hashable, Sendable {
    /// The number of seconds since 1 January 1970 00:00:00 UTC, without leap seconds.
    let secondsSince1970: Int64

    /// Creates a date from the number of seconds since 1970.
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
}

extension HTTPDate: Comparable {
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

    /// The date and time in ISO 8601 format, without a time zone: "1994-11-06T08:49:37".
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

/// A parser for the date formats of RFC 9110 §5.6.7. Names and "GMT" are case-sensitive.
///
/// A cache parses dates at every lookup. The parser works on slices of a byte buffer, because substrings would need
/// reference counting.
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
            guard isLong || isShortWeekday(weekday), reader.take(" ") else { return nil }
            time = isLong ? reader.rfc850(now: now) : reader.fixdate()
        } else {
            guard isShortWeekday(weekday), reader.take(" ") else { return nil }
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

    private static func isShortWeekday(_ name: String) -> Bool {
        shortWeekdays.contains(name)
    }

    private static let shortWeekdays = CivilTime.weekdays.map { String($0.prefix(3)) }
}

extension CivilTime {
    fileprivate init(year: Int, month: Int, day: Int, clock: (hour: Int, minute: Int, second: Int)) {
        self.init(
            year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    }
}
