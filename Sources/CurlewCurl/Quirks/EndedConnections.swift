// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// libcurl 8.23.0 takes an idle connection without looking whether it has ended, if it was used a moment ago. It then tries
/// five of them at most, and a body that cannot be produced again not even a second one. 8.16.0 and older versions look.
extension EasyHandle {
    private static let isNeeded = CurlLibrary.current.version >= 0x08_11_00

    /// Whether libcurl has connections that the poller knows to have ended: until it has cleaned up, which it does once
    /// a second, requests take new connections.
    func mayFindEnded(_ transfer: Transfer) -> Bool {
        Self.isNeeded && transfer.multi?.poller.endedCount ?? 0 > 0
    }
}
#endif
