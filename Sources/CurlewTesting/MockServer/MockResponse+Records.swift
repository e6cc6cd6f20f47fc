// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewStreams

extension MockResponse {
    /// Returns a response whose body is the values as JSON Lines with sorted keys, each record as a separate chunk. If a
    /// value cannot be encoded, returns a 500 that describes the error.
    public static func jsonLines<Values: Sequence>(_ values: Values) -> MockResponse
    where Values.Element: Encodable {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let codec = Codecs(encoder: encoder).jsonCodec
        do {
            let pieces = try values.map { try RecordText.line($0, using: codec) }
            return MockResponse(headers: [.contentType: MediaType.jsonLines.description], body: .chunks(pieces))
        } catch {
            return .problem(.internalServerError, "the mock's value cannot be encoded: \(error)")
        }
    }
}
