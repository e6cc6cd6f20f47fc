// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The file name in a `Content-Disposition` field of a response (RFC 6266).
///
/// Reads what browsers read: unquoted names with spaces, quoted names without an end, names without a type, and UTF-8 in
/// plain names. Of two parameters with the same name the first counts. Encoded words (RFC 2047) and percent-encoding in
/// a plain `filename` are not decoded. The file name is text of the server, without any check: see ``DownloadName``.
struct ContentDisposition: Sendable {
    /// The file name: that of `filename*` if it can be decoded (RFC 8187), otherwise that of `filename`.
    let fileName: String

    /// Parses a field value. Returns nil if there is no file name.
    init?(_ value: String) {
        var reader = Reader(bytes: Array(value.utf8))
        var plain: String?
        var extended: String?
        while let parameter = reader.next() {
            switch (parameter.name, parameter.value) {
            case ("filename", let value?): plain = plain ?? String(decoding: value, as: UTF8.self)
            case ("filename*", let value?):
                extended = extended ?? PercentCoding.decodeExtended(String(decoding: value, as: UTF8.self))
            default: break
            }
        }
        guard let name = extended ?? plain else { return nil }
        fileName = name
    }

    /// Reads parameters one after the other, in one pass.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        /// Returns the next parameter, its name in lower case, or a bare word without a value; nil at the end.
        mutating func next() -> (name: String, value: [UInt8]?)? {
            _ = take { $0 == 0x3B || ASCII.isBlank($0) }
            guard position < bytes.count else { return nil }
            let name = take { $0 != 0x3B && $0 != 0x3D }
            let text = ASCII.lowercased(String(String(decoding: name, as: UTF8.self).trimmed()))
            guard position < bytes.count, bytes[position] == 0x3D else { return (text, nil) }
            position += 1
            _ = take(while: ASCII.isBlank)
            if position < bytes.count, bytes[position] == 0x22 {
                position += 1
                let value = quoted()
                _ = take { $0 != 0x3B }
                return (text, value)
            }
            let value = take { $0 != 0x3B }
            return (text, Array(value.dropLast(value.reversed().prefix(while: ASCII.isBlank).count)))
        }

        private mutating func take(while matches: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let taken = bytes[position...].prefix(while: matches)
            position = taken.endIndex
            return taken
        }

        /// Reads up to the closing quote or the end. A backslash stands for the byte behind it.
        private mutating func quoted() -> [UInt8] {
            var value: [UInt8] = []
            while position < bytes.count {
                var byte = bytes[position]
                position += 1
                if byte == 0x22 { break }
                if byte == 0x5C, position < bytes.count {
                    byte = bytes[position]
                    position += 1
                }
                value.append(byte)
            }
            return value
        }
    }
}
