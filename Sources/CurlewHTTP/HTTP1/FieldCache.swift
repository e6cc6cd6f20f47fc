// SPDX-License-Identifier: MIT

import CurlewFoundation

/// A cache of parsed response fields. Its keys are the bytes of the field lines.
///
/// Most responses repeat most fields of earlier responses. A line that is equal to an earlier one, byte for byte, needs
/// no parsing and no new strings. A line is cached when it occurs for the second time, so that dates and request
/// identifiers do not evict others.
///
/// The cache holds at most 256 lines of at most 256 bytes. Sensitive fields, such as cookies, are never cached. Use a
/// cache on one thread at a time.
package final class FieldCache {
    private struct Entry {
        var hash: UInt64 = 0
        var line: [UInt8] = []
        var field: HTTPField?
    }

    @exclusivity(unchecked) private var entries = [Entry](repeating: Entry(), count: 256)
    private static let lineLimit = 256

    package init() {}

    /// Returns the cached field for a field line without its line break, or else the result of `parse`.
    package func field(_ line: UnsafeRawBufferPointer, _ parse: (UnsafeRawBufferPointer) -> HTTPField?) -> HTTPField? {
        guard line.count <= Self.lineLimit, let start = line.baseAddress else { return parse(line) }
        let hash = Self.hash(line)
        let index = Int(truncatingIfNeeded: hash >> 56)
        return entries.withUnsafeMutableBufferPointer { entries in
            if entries[index].hash == hash, let field = entries[index].field, entries[index].line.count == line.count {
                let isSame = entries[index].line.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { memcmp($0, start, line.count) == 0 } ?? false
                }
                if isSame { return field }
            }
            let field = parse(line)
            let isSecond = entries[index].hash == hash
            if isSecond, let field, field.name.isSensitive { return field }
            entries[index] = Entry(hash: hash, line: isSecond ? Array(line) : [], field: isSecond ? field : nil)
            return field
        }
    }

    /// Returns the hash of a line, computed from eight bytes at a time. The upper bits select the entry, because they
    /// are better distributed.
    private static func hash(_ line: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset + 8 <= line.count {
            hash = (hash ^ line.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            offset += 8
        }
        var word: UInt64 = 0
        if offset > 0 {
            // The remaining bytes, with some of those before them.
            word = line.loadUnaligned(fromByteOffset: line.count - 8, as: UInt64.self)
        } else {
            for byte in line { word = word << 8 | UInt64(byte) }
        }
        return ((hash ^ word) &* 0xC4CE_B9FE_1A85_EC53) &* 0x9E37_79B9_7F4A_7C15
    }
}
