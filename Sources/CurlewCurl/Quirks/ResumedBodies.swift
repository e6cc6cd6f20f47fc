// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// Quirk of libcurl 8.16: a transfer fails if it resumes after a pause and must pause again before libcurl has
/// delivered all buffered bytes. The error is CURLE_AGAIN, or later a write error. 8.12.1 and 8.23.0 pause again
/// instead. So with 8.16 the reader receives all buffered bytes, which are at most the bytes of one read.
extension Transfer {
    private static let isNeeded = (0x08_10_00..<0x08_11_00).contains(CurlLibrary.current.version)

    /// Resumes a paused transfer. libcurl may deliver buffered bytes before this function returns.
    func unpause(_ easy: EasyHandle) -> CURLcode {
        received.takesAll = Self.isNeeded
        defer { received.takesAll = false }
        return curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
    }
}
#endif
