// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// Quirk of libcurl 8.23.0, assumed for all versions from 8.17.0 on: libcurl reuses a connection that was used less
/// than a second ago without checking whether the connection has ended. If it has, libcurl cannot send a body that
/// cannot be produced again. 8.16.0 and older versions check.
extension EasyHandle {
    fileprivate static let isNeeded = CurlLibrary.current.version >= 0x08_11_00

    /// Returns whether the transfer needs a new connection, because libcurl might use a connection that the poller has
    /// ended. libcurl removes ended connections once a second.
    func mayFindEnded(_ transfer: Transfer) -> Bool {
        guard Self.isNeeded, store.owner.poller.endedCount > 0 else { return false }
        return transfer.plan.upload is StreamUpload || transfer.plan.expectation != nil
    }
}

extension MultiHandle {
    /// Sets again whether transfers that libcurl is about to begin may use existing connections. Connections may have
    /// ended since these transfers were added.
    func noteEndedConnections() {
        guard EasyHandle.isNeeded, poller.endedCount > 0 else { return }
        for transfer in active.values where transfer.sent.attempts == 0 { transfer.easy?.setReuse(of: transfer) }
    }
}
#endif
