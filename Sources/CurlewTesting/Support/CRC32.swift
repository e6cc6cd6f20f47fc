// SPDX-License-Identifier: MIT

/// The CRC-32 checksum that PNG, gzip and Ethernet use (ISO 3309).
package struct CRC32 {
    private var register: UInt32 = 0xFFFF_FFFF

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    package init() {}

    package init(_ bytes: some Sequence<UInt8>) {
        update(bytes)
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let table = Self.table
        var register = register
        for byte in bytes { register = table[Int((register ^ UInt32(byte)) & 0xFF)] ^ (register >> 8) }
        self.register = register
    }

    package var value: UInt32 { ~register }
}
