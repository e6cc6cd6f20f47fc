// SPDX-License-Identifier: MIT

import CurlewHTTP
import Foundation

/// Parses certificates in PEM text (RFC 7468 §5).
enum PEMText {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// Returns the certificates in DER form, in order. Malformed certificates are omitted.
    static func certificates(in text: Data) -> [Data] {
        let text = String(decoding: text, as: UTF8.self)
        let parts = text.utf8.split(separator: begin.utf8, omittingEmptySubsequences: false)
        return parts.dropFirst().compactMap { part in
            guard let close = part.firstRange(of: end.utf8) else { return nil }
            return Data(base64Encoded: Substring(part[..<close.lowerBound]).without { $0 <= 0x20 })
        }
    }
}
