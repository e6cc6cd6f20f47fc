// SPDX-License-Identifier: MIT

/// The CRC-32 checksum that PNG, gzip and Ethernet use (ISO 3309).
struct CRC32 {
    private var register: UInt32 = 0xFFFF_FFFF

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    init() {}

    init(_ bytes: some Sequence<UInt8>) {
        update(bytes)
    }

    /// Adds these bytes to the checksum, after the previous ones.
    mutating func update(_ bytes: some Sequence<UInt8>) {
        let table = Self.table
        var register = register
        for byte in bytes { register = table[Int((register ^ UInt32(byte)) & 0xFF)] ^ (register >> 8) }
        self.register = register
    }

    var value: UInt32 { ~register }

    /// The checksum as eight lowercase hexadecimal digits, such as "cbf43926".
    var hexadecimal: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// The Adler-32 checksum of zlib streams (RFC 1950 §8.2).
enum Adler32 {
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }
}
