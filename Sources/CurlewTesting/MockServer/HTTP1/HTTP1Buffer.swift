// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// A buffer of received bytes that have not been consumed. The search for line ends examines each byte once.
struct HTTP1Buffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    /// The position at which the search for the next line end resumes.
    private var scanned = 0

    var count: Int { bytes.count - start }

    mutating func append(_ received: UnsafeRawBufferPointer) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
            scanned = 0
        } else if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            scanned -= start
            start = 0
        }
        bytes.append(contentsOf: received)
    }

    /// Returns the next line without its CRLF, or `nil` if it is incomplete.
    ///
    /// Throws `tooLong` for a line of more than `limit` bytes, including the line end, regardless of how the input is
    /// split. Throws `bareLineFeed` for a line that ends with LF alone.
    mutating func line(
        limit: Int, tooLong: HTTP1ParseError
    ) throws(HTTP1ParseError) -> ArraySlice<UInt8>? {
        guard let end = bytes[max(scanned, start)...].firstIndex(of: 0x0A) else {
            scanned = bytes.count
            if count > limit { throw tooLong }
            return nil
        }
        guard end - start < limit else { throw tooLong }
        guard end > start, bytes[end - 1] == 0x0D else { throw .bareLineFeed }
        defer {
            start = end + 1
            scanned = start
        }
        return bytes[start..<end - 1]
    }

    /// Removes and returns at most `limit` bytes, or `nil` if the buffer is empty.
    mutating func take(upTo limit: Int) -> Data? {
        let length = min(count, limit)
        guard length > 0 else { return nil }
        let data = Data(bytes[start..<start + length])
        start += length
        scanned = max(scanned, start)
        return data
    }

    /// Removes a CRLF and returns true. Returns false if the next bytes are not a CRLF, or `nil` if more bytes are
    /// needed.
    mutating func takeLineEnd() -> Bool? {
        if count > 0, bytes[start] != 0x0D { return false }
        guard count >= 2 else { return nil }
        guard bytes[start + 1] == 0x0A else { return false }
        start += 2
        scanned = max(scanned, start)
        return true
    }
}
