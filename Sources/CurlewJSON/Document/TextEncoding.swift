// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the text of a document is encoded: by its byte order mark, else by where zeros stand among the first bytes.
///
/// The text begins with an ASCII character, so that UTF-16 and UTF-32 show zeros (RFC 4627 §3).
struct TextEncoding {
    /// Nil for UTF-8.
    private var encoding: String.Encoding?
    /// The length of the byte order mark.
    private(set) var start = 0

    var isUTF8: Bool { encoding == nil }

    init(of bytes: UnsafeRawBufferPointer) {
        // UTF-8 without a mark, which nearly everything is.
        guard bytes.count >= 2, bytes[0] == 0 || bytes[1] == 0 || bytes[0] >= 0xEF else { return }
        let first = (0..<4).map { $0 < bytes.count ? bytes[$0] : nil }
        switch (first[0], first[1], first[2], first[3]) {
        case (0xEF, 0xBB, 0xBF, _): start = 3
        case (0, 0, 0xFE, 0xFF): (encoding, start) = (.utf32BigEndian, 4)
        case (0xFF, 0xFE, 0, 0): (encoding, start) = (.utf32LittleEndian, 4)
        case (0xFE, 0xFF, _, _): (encoding, start) = (.utf16BigEndian, 2)
        case (0xFF, 0xFE, _, _): (encoding, start) = (.utf16LittleEndian, 2)
        case (0, 0, 0, .some(1...)): encoding = .utf32BigEndian
        case (.some(1...), 0, 0, 0): encoding = .utf32LittleEndian
        case (0, .some(1...), 0, .some(1...)), (0, .some(1...), nil, nil): encoding = .utf16BigEndian
        case (.some(1...), 0, .some(1...), 0), (.some(1...), 0, nil, nil): encoding = .utf16LittleEndian
        default: break
        }
    }

    /// The text of UTF-16 and UTF-32; nil if it is none.
    func text(of bytes: UnsafeRawBufferPointer) -> String? {
        guard let encoding else { return nil }
        return String(bytes: bytes[start...], encoding: encoding)
    }
}
