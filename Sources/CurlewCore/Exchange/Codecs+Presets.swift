// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewJSON

extension Codecs {
    /// JSON with unchanged keys, and dates in the default encoding of `Date` (seconds since 2001).
    public static let json = Codecs()

    /// JSON with ISO 8601 dates, with or without fractions of a second, and keys in snake case (`created_at`).
    public static let snakeCase: Codecs = {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return Codecs(
            decoder: FastJSONDecoder(keys: .convertFromSnakeCase, dates: .iso8601WithOrWithoutFractions),
            encoder: encoder)
    }()

    /// JSON with ISO 8601 dates, with or without fractions of a second, and unchanged keys.
    public static let iso8601: Codecs = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return Codecs(decoder: FastJSONDecoder(dates: .iso8601WithOrWithoutFractions), encoder: encoder)
    }()

    /// JSON with dates as seconds since 1970 and unchanged keys.
    public static let secondsSince1970: Codecs = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        return Codecs(decoder: FastJSONDecoder(dates: .secondsSince1970), encoder: encoder)
    }()
}
