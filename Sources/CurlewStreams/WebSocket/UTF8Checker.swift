// SPDX-License-Identifier: MIT

import CurlewFoundation

/// A validator of UTF-8 that arrives in pieces (RFC 3629). It refuses an invalid byte as soon as it arrives.
struct UTF8Checker: Sendable {
    /// The number of continuation bytes that are missing.
    private var missing = 0
    /// The range of the next continuation byte.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    /// Whether the bytes so far do not end within a character.
    var isComplete: Bool { missing == 0 }

    /// Returns whether the bytes so far are the beginning of valid text.
    mutating func receive(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var index = 0
            while index < bytes.count {
                // Eight ASCII characters at a time.
                if missing == 0, index + 8 <= bytes.count,
                    bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                    continue
                }
                guard receive(bytes[index]) else { return false }
                index += 1
            }
            return true
        }
    }

    private mutating func receive(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard byte >= low, byte <= high else { return false }
            (low, high) = (0x80, 0xBF)
            missing -= 1
            return true
        }
        switch byte {
        case 0...0x7F: break
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, low) = (2, 0xA0)
        case 0xED: (missing, high) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, low) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, high) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
