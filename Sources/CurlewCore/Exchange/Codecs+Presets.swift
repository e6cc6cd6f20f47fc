// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Codecs {
    /// JSON with keys as they are and dates as `Date` writes itself (seconds since 2001).
    public static let json = Codecs()

    /// JSON with ISO 8601 dates, with or without fractions of a second, and keys in snake case (`created_at`).
    public static let snakeCase: Codecs = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .custom(decodeISO8601)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return Codecs(decoder: decoder, encoder: encoder)
    }()

    /// JSON with ISO 8601 dates, with or without fractions of a second, and keys as they are.
    public static let iso8601: Codecs = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(decodeISO8601)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return Codecs(decoder: decoder, encoder: encoder)
    }()

    /// JSON with dates as seconds since 1970 and keys as they are.
    public static let secondsSince1970: Codecs = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        return Codecs(decoder: decoder, encoder: encoder)
    }()

    /// Foundation's own `.iso8601` refuses fractions of a second, which many servers send.
    @Sendable private static func decodeISO8601(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        if let date = try? Date.ISO8601FormatStyle().parse(text) { return date }
        if let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) { return date }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a date in ISO 8601 form.")
    }
}
