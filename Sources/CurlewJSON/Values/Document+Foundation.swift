// SPDX-License-Identifier: MIT

import CurlewFoundation

/// Reads `Date`, `Data`, `URL` and `Decimal`, which Foundation's decoder treats specially. Each of them is read in the
/// same way everywhere, also inside other types.
extension Document {
    static func isSpecial(_ type: Any.Type) -> Bool {
        type == Date.self || type == URL.self || type == Data.self || type == Decimal.self
    }

    func date(at index: Int, in parent: UInt32) throws -> Date {
        if tape[index].kind == .null { throw failure(Date.self, at: index, in: parent) }
        switch options.dateStrategy {
        case .deferredToDate:
            return Date(timeIntervalSinceReferenceDate: try scalar(Double.self, at: index, in: parent))
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try scalar(Double.self, at: index, in: parent))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try scalar(Double.self, at: index, in: parent) / 1000)
        case .iso8601:
            return try iso8601(at: index, in: parent, fractions: false)
        case .iso8601WithOrWithoutFractions:
            return try iso8601(at: index, in: parent, fractions: true)
        case .custom(let closure):
            return try closure(ValueDecoder(document: self, index: index, parent: parent))
        }
    }

    private func iso8601(at index: Int, in parent: UInt32, fractions: Bool) throws -> Date {
        let text = try scalar(String.self, at: index, in: parent)
        if let date = UTCDate.parse(text) { return date }
        if let date = try? Date.ISO8601FormatStyle().parse(text) { return date }
        if fractions, let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) {
            return date
        }
        throw corrupted("Expected date string to be ISO8601-formatted.", at: index, in: parent)
    }

    func data(at index: Int, in parent: UInt32) throws -> Data {
        if tape[index].kind == .null { throw failure(Data.self, at: index, in: parent) }
        guard let data = Data(base64Encoded: try scalar(String.self, at: index, in: parent)) else {
            throw corrupted("Encountered Data is not valid Base64.", at: index, in: parent)
        }
        return data
    }

    func url(at index: Int, in parent: UInt32) throws -> URL {
        if tape[index].kind == .null { throw failure(URL.self, at: index, in: parent) }
        guard let url = URL(string: try scalar(String.self, at: index, in: parent)) else {
            throw corrupted("Invalid URL string.", at: index, in: parent)
        }
        return url
    }

    func decimal(at index: Int, in parent: UInt32) throws -> Decimal {
        let cell = tape[index]
        if cell.kind == .null { throw failure(Decimal.self, at: index, in: parent) }
        guard cell.kind == .number else {
            throw DecodingError.typeMismatch(
                Decimal.self, DecodingError.Context(codingPath: path(to: index, in: parent), debugDescription: ""))
        }
        if let decimal = shortDecimal(cell, index) { return decimal }
        guard let decimal = longDecimal(at: index), decimal.isFinite else {
            throw corrupted(unfit(cell, for: Decimal.self), at: index, in: parent)
        }
        return decimal
    }

    /// Returns the exact value of a number; nil if it has more than 19 digits, or an exponent that `Decimal` may not be
    /// able to represent.
    private func shortDecimal(_ cell: Cell, _ index: Int) -> Decimal? {
        guard !cell.has(.long) else { return nil }
        let digits = cell.has(.extra) ? tape[index + 1].bits : cell.detail
        let exponent = cell.has(.extra) ? cell.exponent : 0
        guard digits != 0 else { return 0 }
        let isNegative = cell.has(.negative)
        guard exponent != 0 else { return isNegative ? -Decimal(digits) : Decimal(digits) }
        guard -100...100 ~= exponent else { return nil }
        return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: Decimal(digits))
    }

    /// Returns a number by parsing its text. Foundation truncates the digits after the 39th, because they exceed a
    /// 128-bit mantissa.
    private func longDecimal(at index: Int) -> Decimal? {
        Decimal(string: LongNumber(at: index, in: self).shortened(to: 45))
    }
}

/// Parses the common form of ISO 8601, `2026-11-22T10:30:00Z`, without a formatter, because a formatter would take most
/// of the time.
///
/// Returns nil for any other string, and for dates that a formatter has to check. The caller then uses a formatter.
enum UTCDate {
    static func parse(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == 20, bytes[4] == Byte.minus, bytes[7] == Byte.minus, bytes[10] == UInt8(ascii: "T"),
                bytes[13] == Byte.colon, bytes[16] == Byte.colon, bytes[19] == UInt8(ascii: "Z"),
                let year = number(bytes, 0, 4), let month = number(bytes, 5, 2), let day = number(bytes, 8, 2),
                let hour = number(bytes, 11, 2), let minute = number(bytes, 14, 2), let second = number(bytes, 17, 2),
                // Before 1583 the formatter may use the Julian calendar.
                1600...9999 ~= year, 1...12 ~= month, 1...lastDay(month) ~= day, hour < 24, minute < 60, second < 60
            else { return nil }
            let days = daysSince1970(year, month, day)
            return Date(timeIntervalSince1970: Double(days) * 86_400 + Double(hour * 3_600 + minute * 60 + second))
        }
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ length: Int) -> Int? {
        var number = 0
        for index in start..<(start + length) {
            guard Byte.isDigit(bytes[index]) else { return nil }
            number = number * 10 + Int(bytes[index] - Byte.zero)
        }
        return number
    }

    /// Returns the last day of a month that is parsed without a formatter: 28 for February, even in leap years.
    private static func lastDay(_ month: Int) -> Int {
        month == 2 ? 28 : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Returns the number of days since 1 January 1970 in the Gregorian calendar. Years begin in March, so that leap
    /// days are last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let sinceMarch = (month + 9) % 12
        let daysOfMonths = (sinceMarch * 153 + 2) / 5
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + daysOfMonths + day - 1 - 719_468
    }
}
