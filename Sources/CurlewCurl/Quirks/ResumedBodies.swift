// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// Quirk of libcurl 8.16: a transfer that goes on after a pause, and whose reader is behind again before all that
/// libcurl has kept is handed over, fails: with CURLE_AGAIN, or later as one that could not write. 8.12.1 and 8.23.0 pause
/// again. So the reader is given all of it, which is at most what libcurl reads at once.
extension Transfer {
    private static let isNeeded = (0x08_10_00..<0x08_11_00).contains(CurlLibrary.current.version)

    /// Lets libcurl go on. May call back at once, with what libcurl has held.
    func unpause(_ easy: EasyHandle) -> CURLcode {
        takesAll = Self.isNeeded
        defer { takesAll = false }
        return curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
    }
}
#endif
