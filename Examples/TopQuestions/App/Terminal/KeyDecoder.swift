// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)

enum Key: Equatable {
    case up, down, left, right, pageUp, pageDown, home, end, enter, escape
    case character(Character)
    /// Control-C, which is a key like any other while the terminal is raw.
    case interrupt
}

/// Reads keys from the bytes that a terminal sends, however they are cut into pieces.
struct KeyDecoder {
    private var pending: [UInt8] = []

    /// The bytes so far are the beginning of a key, or Escape: only a pause decides.
    var isWaiting: Bool { !pending.isEmpty }

    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let (key, length) = Self.first(of: pending) {
            if let key { keys.append(key) }
            pending.removeFirst(length)
        }
        // No key is that long: the input is not from a keyboard.
        if pending.count > 32 { pending = [] }
        return keys
    }

    /// Nothing came for a while: an Escape alone is the key, and the rest of something is nothing.
    mutating func rest() -> [Key] {
        defer { pending = [] }
        return pending == [0x1B] ? [.escape] : []
    }

    /// The first key and its length; a nil key is one that means nothing here. Nil where more bytes are needed.
    private static func first(of bytes: [UInt8]) -> (Key?, Int)? {
        guard let first = bytes.first else { return nil }
        switch first {
        case 0x1B: return sequence(bytes)
        case 0x03: return (.interrupt, 1)
        case 0x0A, 0x0D: return (.enter, 1)
        case 0..<0x20, 0x7F: return (nil, 1)
        default: return character(bytes, first)
        }
    }

    /// `ESC [ … letter` and `ESC O letter` (ECMA-48).
    private static func sequence(_ bytes: [UInt8]) -> (Key?, Int)? {
        guard bytes.count > 1 else { return nil }
        guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else { return (.escape, 1) }
        guard let end = bytes[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
        let parameter = String(decoding: bytes[2..<end], as: UTF8.self)
        let key: Key? =
            switch (bytes[end], parameter) {
            case (UInt8(ascii: "A"), _): .up
            case (UInt8(ascii: "B"), _): .down
            case (UInt8(ascii: "C"), _): .right
            case (UInt8(ascii: "D"), _): .left
            case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): .home
            case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): .end
            case (UInt8(ascii: "~"), "5"): .pageUp
            case (UInt8(ascii: "~"), "6"): .pageDown
            default: nil
            }
        return (key, end + 1)
    }

    private static func character(_ bytes: [UInt8], _ first: UInt8) -> (Key?, Int)? {
        let length =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        let given = bytes.prefix(length)
        // Broken text costs its first byte, and the rest is looked at again.
        guard given.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        guard given.count == length else { return nil }
        guard let text = String(validating: given, as: UTF8.self), let character = text.first else { return (nil, 1) }
        return (.character(character), length)
    }
}
#endif
