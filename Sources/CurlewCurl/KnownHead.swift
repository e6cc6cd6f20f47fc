// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// The fields of an earlier head, with the bytes they were read from.
///
/// Most answers of an origin repeat most fields of the one before. A line that is the same byte for byte needs no
/// parsing and no new strings, and a head that is the same as a whole needs nothing at all; for a small request that is
/// a tenth of the engine's work. Never changes, because several heads may be compared with it at a time.
final class KnownHead {
    let headers: HTTPHeaders
    let content: DeclaredContent
    private let bytes: [UInt8]
    /// Where each line ends.
    private let ends: [Int]

    /// More is not worth comparing.
    static let byteLimit = 4096

    /// Nil if the lines are not one for each field.
    init?(_ headers: HTTPHeaders, _ content: DeclaredContent, bytes: [UInt8], ends: [Int]) {
        guard headers.count == ends.count, bytes.count <= Self.byteLimit else { return nil }
        self.headers = headers
        self.content = content
        self.bytes = bytes
        self.ends = ends
    }

    /// Whether the field at `index` was read from these bytes.
    func has(_ line: UnsafeRawBufferPointer, at index: Int) -> Bool {
        guard index < ends.count, let other = line.baseAddress else { return false }
        let start = index == 0 ? 0 : ends[index - 1]
        guard ends[index] - start == line.count else { return false }
        return bytes.withUnsafeBytes { $0.baseAddress.map { memcmp($0 + start, other, line.count) == 0 } ?? false }
    }

    /// The bytes of the first `count` lines, and where each of these ends.
    func lines(_ count: Int) -> (bytes: [UInt8], ends: [Int]) {
        (Array(bytes.prefix(count == 0 ? 0 : ends[count - 1])), Array(ends.prefix(count)))
    }
}
#endif
