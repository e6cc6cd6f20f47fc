// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The types that JSON has no form for. Each is read the same way wherever it stands, also inside of other types.
extension Document {
    static func isSpecial(_ type: Any.Type) -> Bool {
        type == Date.self || type == URL.self || type == Data.self || type == Decimal.self
    }

    func date(at index: Int) throws -> Date {
        if tape[index].kind == .null { throw failure(Date.self, at: index) }
        switch options.dateStrategy {
        case .deferredToDate:
            return Date(timeIntervalSinceReferenceDate: try scalar(Double.self, at: index))
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try scalar(Double.self, at: index))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try scalar(Double.self, at: index) / 1000)
        case .iso8601:
            return try iso8601(at: index, fractions: false)
        case .iso8601WithOrWithoutFractions:
            return try iso8601(at: index, fractions: true)
        case .custom(let closure):
            return try closure(ValueDecoder(document: self, index: index))
        }
    }

    private func iso8601(at index: Int, fractions: Bool) throws -> Date {
        let text = try scalar(String.self, at: index)
        if let date = UTCDate.parse(text) { return date }
        if let date = try? Date.ISO8601FormatStyle().parse(text) { return date }
        if fractions, let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) {
            return date
        }
        throw corrupted("Expected date string to be ISO8601-formatted.", at: index)
    }

    func data(at index: Int) throws -> Data {
        if tape[index].kind == .null { throw failure(Data.self, at: index) }
        guard let data = Data(base64Encoded: try scalar(String.self, at: index)) else {
            throw corrupted("Encountered Data is not valid Base64.", at: index)
        }
        return data
    }

    func url(at index: Int) throws -> URL {
        if tape[index].kind == .null { throw failure(URL.self, at: index) }
        guard let url = URL(string: try scalar(String.self, at: index)) else {
            throw corrupted("Invalid URL string.", at: index)
        }
        return url
    }

    func decimal(at index: Int) throws -> Decimal {
        let entry = tape[index]
        if entry.kind == .null { throw failure(Decimal.self, at: index) }
        guard entry.kind == .number else {
            throw DecodingError.typeMismatch(
                Decimal.self, DecodingError.Context(codingPath: path(to: index), debugDescription: ""))
        }
        let text = NumberText(entry, in: source).text
        guard let decimal = Decimal(string: text), decimal.isFinite else {
            throw corrupted(unfit(text, for: Decimal.self), at: index)
        }
        return decimal
    }
}

/// The common form of ISO 8601, `2026-11-22T10:30:00Z`, read without a formatter, which would take most of the time.
///
/// Everything else, and everything that looks doubtful, is left to the formatter.
enum UTCDate {
    static func parse(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == 20, bytes[4] == Byte.minus, bytes[7] == Byte.minus, bytes[10] == UInt8(ascii: "T"),
                bytes[13] == Byte.colon, bytes[16] == Byte.colon, bytes[19] == UInt8(ascii: "Z"),
                let year = number(bytes, 0, 4), let month = number(bytes, 5, 2), let day = number(bytes, 8, 2),
                let hour = number(bytes, 11, 2), let minute = number(bytes, 14, 2), let second = number(bytes, 17, 2),
                // Before 1583 the calendar of the formatter may be the Julian one.
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

    /// Leap days are left to the formatter.
    private static func lastDay(_ month: Int) -> Int {
        month == 2 ? 28 : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// The Gregorian calendar, with years that begin in March so that leap days come last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let sinceMarch = (month + 9) % 12
        let daysOfMonths = (sinceMarch * 153 + 2) / 5
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + daysOfMonths + day - 1 - 719_468
    }
}
