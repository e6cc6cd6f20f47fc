// SPDX-License-Identifier: MIT

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
