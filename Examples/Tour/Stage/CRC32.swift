// SPDX-License-Identifier: MIT

/// The checksum that the sample service names (CRC-32, as in gzip and PNG), to compare with.
struct CRC32: CustomStringConvertible {
    /// Eight hexadecimal digits.
    let description: String

    init(_ bytes: some Collection<UInt8>) {
        let table: [UInt32] = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        var register: UInt32 = 0xFFFF_FFFF
        for byte in Array(bytes) { register = table[Int((register ^ UInt32(byte)) & 0xFF)] ^ (register >> 8) }
        let digits = String(~register, radix: 16)
        description = String(repeating: "0", count: 8 - digits.count) + digits
    }
}
