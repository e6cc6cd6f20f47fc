// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

extension MockResponse {
    /// Returns a response whose body is the value as JSON with sorted keys in snake case. Throws if the value cannot be
    /// encoded.
    static func snakeCaseJSON(_ value: some Encodable, status: HTTPStatus = .ok) throws -> MockResponse {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .data(try encoder.encode(value), type: .json, status: status)
    }
}
