// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewFoundation

/// Encoding of values as JSON Lines.
package enum RecordText {
    /// Returns the bytes of a value as one line.
    package static func line(_ value: some Encodable, using codec: any ContentCodec) throws -> Data {
        var json = try codec.encode(value)
        // A JSON text contains line breaks only as white space, where an encoder sets it out for people.
        if json.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            json = Data(json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        }
        json.append(0x0A)
        return json
    }
}
