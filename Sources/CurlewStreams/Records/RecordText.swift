// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewHTTP

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension RecordFormat {
    /// The media type that content in this format is sent with.
    package var mediaType: MediaType {
        switch self {
        case .lines: .jsonLines
        case .sequence: .jsonSequence
        }
    }

    /// Returns the bytes of a value as one record.
    package func record(_ value: some Encodable, using codec: any ContentCodec) throws -> Data {
        var json = try codec.encode(value)
        switch self {
        case .lines:
            // A JSON text contains line breaks only as white space, where an encoder sets it out for people.
            if json.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                json = Data(json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
            }
        case .sequence:
            json = [0x1E] + json
        }
        json.append(0x0A)
        return json
    }
}
