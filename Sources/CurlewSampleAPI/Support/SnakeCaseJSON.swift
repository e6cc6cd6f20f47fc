// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MockResponse {
    /// A value as JSON whose keys are in snake case and sorted.
    static func snakeCaseJSON(_ value: some Encodable, status: HTTPStatus = .ok) throws -> MockResponse {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .data(try encoder.encode(value), type: .json, status: status)
    }
}
