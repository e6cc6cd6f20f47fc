// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// Dates in ISO 8601 format with milliseconds, in UTC. Needs no formatter, and none of the tables of a locale.
enum HARTimestamp {
    /// Returns the date as `2026-11-22T10:30:00.123Z`, rounded to milliseconds. A date outside of the years 0 to 9999 is
    /// clamped.
    static func text(_ date: Date) -> String {
        let range = Double(CivilTime.earliest) * 1000...Double(CivilTime.latest) * 1000
        let exact = (date.timeIntervalSince1970 * 1000).rounded()
        let milliseconds = Int64(min(max(exact.isNaN ? 0 : exact, range.lowerBound), range.upperBound))
        let fraction = ((milliseconds % 1000) + 1000) % 1000
        let time = CivilTime(secondsSince1970: (milliseconds - fraction) / 1000)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        func add(_ number: Int, _ count: Int, _ mark: Unicode.Scalar) {
            var divisor = 1
            for _ in 1..<count { divisor *= 10 }
            while divisor > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
                divisor /= 10
            }
            bytes.append(UInt8(ascii: mark))
        }
        add(time.year, 4, "-")
        add(time.month, 2, "-")
        add(time.day, 2, "T")
        add(time.hour, 2, ":")
        add(time.minute, 2, ":")
        add(time.second, 2, ".")
        add(Int(fraction), 3, "Z")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the date that the text describes, with its fraction of a second and its time zone; nil if the text is not
    /// a date and a time of day in ISO 8601 format. Without a time zone, the time is in UTC.
    static func date(_ text: String) -> Date? {
        var remainder = Substring(text).utf8
        func number(_ count: Int) -> Int? {
            let digits = remainder.prefix(count)
            guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
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
        var time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute)
        var fraction = 0.0
        if skip(":") != nil {
            guard let second = number(2) else { return nil }
            time.second = second
            if skip(".,") != nil {
                let digits = remainder.prefix(while: isDigit)
                guard !digits.isEmpty else { return nil }
                remainder = remainder.dropFirst(digits.count)
                // Nanoseconds are enough, and a long fraction must not overflow.
                var value = 0
                for index in 0..<9 {
                    let position = digits.index(digits.startIndex, offsetBy: index, limitedBy: digits.endIndex)
                    let digit = position.flatMap { $0 < digits.endIndex ? Int(digits[$0] - UInt8(ascii: "0")) : nil }
                    value = value * 10 + (digit ?? 0)
                }
                fraction = Double(value) / 1_000_000_000
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
        guard remainder.isEmpty, time.isValid else { return nil }
        return Date(timeIntervalSince1970: Double(time.secondsSince1970 - Int64(offset)) + fraction)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
