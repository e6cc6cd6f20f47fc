// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// libcurl 8.23.0 takes a connection that was used less than a second ago without looking whether it has ended. It then
/// tries six of them at most, and with a body that cannot be produced again only one. 8.16.0 and older versions look.
extension EasyHandle {
    fileprivate static let isNeeded = CurlLibrary.current.version >= 0x08_11_00

    private static let attempts = 6

    /// Whether libcurl might fail on connections that the poller knows to have ended. A request then takes a new one; each
    /// second libcurl cleans up.
    func mayFindEnded(_ transfer: Transfer) -> Bool {
        guard Self.isNeeded, let ended = transfer.multi?.poller.endedCount, ended > 0 else { return false }
        let isOneShot = transfer.upload is StreamUpload || transfer.expectation != nil
        return isOneShot || ended >= Self.attempts
    }
}

extension MultiHandle {
    /// Connections may have ended since the transfers were handed over that libcurl is about to begin.
    func noteEndedConnections() {
        guard EasyHandle.isNeeded, poller.endedCount > 0 else { return }
        for transfer in active.values where transfer.sendings == 0 { transfer.easy?.setReuse(of: transfer) }
    }
}
#endif
