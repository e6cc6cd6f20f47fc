// SPDX-License-Identifier: MIT

extension HTTPDate {
    /// Parses the `Expires` attribute of a cookie with the algorithm of RFC 6265 §5.1.1, which accepts the parts of a
    /// date in any order and with any separators. Returns `nil` if the algorithm fails.
    ///
    /// Only the first 1,024 bytes are read.
    init?(cookieDate text: String) {
        var reader = CookieDateReader()
        for token in text.utf8.prefix(1024).split(whereSeparator: CookieDateReader.isDelimiter) { reader.take(token) }
        guard let time = reader.time else { return nil }
        self.init(secondsSince1970: time.secondsSince1970)
    }
}

/// Collects the parts of a date from tokens. The first token that matches a part is used; all other tokens, such as the
/// weekday, are ignored.
private struct CookieDateReader {
    private var clock: (hour: Int, minute: Int, second: Int)?
    private var day: Int?
    private var month: Int?
    private var year: Int?

    static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    mutating func take(_ token: Substring.UTF8View) {
        if clock == nil, let found = Self.clock(token) {
            clock = found
        } else if day == nil, let found = Self.number(token, digits: 1...2) {
            day = found
        } else if month == nil, let found = Self.month(token) {
            month = found
        } else if year == nil, let found = Self.number(token, digits: 2...4) {
            year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
        }
    }

    var time: CivilTime? {
        guard let clock, let day, let month, let year, year >= 1601, clock.second <= 59 else { return nil }
        let time = CivilTime(
            year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
        return time.isValid ? time : nil
    }

    private static func clock(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, (1...2).contains(parts[0].count), (1...2).contains(parts[1].count),
            let hour = ASCII.decimal(parts[0]), let minute = ASCII.decimal(parts[1]),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// Returns the number at the beginning of a token; nil if its number of digits is not in `digits`.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = token.prefix(while: ASCII.isDigit)
        return digits.contains(number.count) ? ASCII.decimal(number) : nil
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let name = token.prefix(3).map(ASCII.lower)
        return CivilTime.months.firstIndex { $0.utf8.map(ASCII.lower) == name }.map { $0 + 1 }
    }
}
