// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// Dates in ISO 8601 format with milliseconds, in UTC. Needs no formatter, and none of the tables of a locale.
enum HARTimestamp {
    /// Returns the date as `2026-11-22T10:30:00.123Z`, rounded to milliseconds. A date outside of the years 0 to 9999
    /// is clamped.
    static func text(_ date: Date) -> String {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        let time = HTTPDate(Date(timeIntervalSince1970: milliseconds / 1000))
        let fraction = milliseconds - time.date.timeIntervalSince1970 * 1000
        // A clamped date has no fraction.
        let digits = "\(1000 + ((0..<1000).contains(fraction) ? Int(fraction) : 0))".dropFirst()
        return "\(time.isoText).\(digits)Z"
    }

    /// Returns the date that the text describes, with its fraction of a second and its time zone; nil if the text is
    /// not a date and a time of day in ISO 8601 format. Without a time zone, the time is in UTC.
    static func date(_ text: String) -> Date? {
        var remainder = Substring(text).utf8
        func number(_ count: Int) -> Int? {
            let digits = remainder.prefix(count)
            guard digits.count == count, digits.allSatisfy(ASCII.isDigit) else { return nil }
            remainder = remainder.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        func skip(_ marks: String) -> UInt8? {
            guard let byte = remainder.first, marks.utf8.contains(byte) else { return nil }
            remainder = remainder.dropFirst()
            return byte
        }
        guard let year = number(4), skip("-") != nil, let month = number(2), skip("-") != nil, let day = number(2),
            skip("Tt ") != nil, let hour = number(2), skip(":") != nil, let minute = number(2)
        else { return nil }
        var (second, fraction) = (0, 0.0)
        if skip(":") != nil {
            guard let whole = number(2) else { return nil }
            second = whole
            if skip(".,") != nil {
                let digits = remainder.prefix(while: ASCII.isDigit)
                guard !digits.isEmpty else { return nil }
                remainder = remainder.dropFirst(digits.count)
                // Nanoseconds are enough.
                fraction = digits.prefix(9).reversed().reduce(0) { ($0 + Double($1 - UInt8(ascii: "0"))) / 10 }
            }
        }
        var offset = 0
        if let sign = skip("+-") {
            guard let hours = number(2), hours < 24 else { return nil }
            _ = skip(":")
            let minutes = remainder.isEmpty ? 0 : number(2)
            guard let minutes, minutes < 60 else { return nil }
            offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
        } else {
            _ = skip("Zz")
        }
        let time = HTTPDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard remainder.isEmpty, let time else { return nil }
        return Date(timeIntervalSince1970: time.date.timeIntervalSince1970 - Double(offset) + fraction)
    }
}
