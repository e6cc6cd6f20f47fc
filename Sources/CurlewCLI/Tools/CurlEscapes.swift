// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Percent-encoding as curl does it.
enum CurlEscapes {
    /// Escapes every byte that is not unreserved (RFC 3986 §2.3), or is not in `others`.
    static func escaped(_ bytes: some Sequence<UInt8>, keeping others: String = "") -> String {
        bytes.reduce(into: "") { text, byte in
            let isUnreserved =
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) && byte < 0x80
                || "-._~".utf8.contains(byte)
            if isUnreserved || others.utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Returns data as a query. Escapes are kept, and what a query cannot contain is escaped.
    static func query(_ data: Data) -> String {
        var result = ""
        var rest = data[...]
        while let byte = rest.popFirst() {
            let isEscape =
                byte == UInt8(ascii: "%") && rest.count >= 2
                && rest.prefix(2).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            result += isEscape ? "%" : escaped([byte], keeping: "!$&'()*+,;=:@/?")
        }
        return result
    }
}
