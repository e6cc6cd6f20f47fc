// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// A date and time in whole seconds, as used in HTTP fields (RFC 9110 §5.6.7).
///
/// Covers the years 0 to 9999. Dates outside this range are clamped, so that every value can be formatted.
public struct HTTPDate: Hashable, Sendable {
    /// The number of seconds since 1 January 1970 00:00:00 UTC, without leap seconds.
    package let secondsSince1970: Int64

    /// Creates a date from the number of seconds since 1970.
    package init(secondsSince1970: Int64) {
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

    private func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
