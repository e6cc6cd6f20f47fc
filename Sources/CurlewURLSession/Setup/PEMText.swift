// SPDX-License-Identifier: MIT

import Foundation

/// Certificates in PEM text (RFC 7468 §5).
enum PEMText {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// The certificates as DER, in their order. What cannot be read is left out.
    static func certificates(in text: Data) -> [Data] {
        String(decoding: text, as: UTF8.self).components(separatedBy: begin).dropFirst().compactMap { part in
            guard let close = part.range(of: end) else { return nil }
            return Data(base64Encoded: part[..<close.lowerBound].filter { !$0.isWhitespace })
        }
    }
}
