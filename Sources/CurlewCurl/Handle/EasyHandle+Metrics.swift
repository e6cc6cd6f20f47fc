// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

extension EasyHandle {
    /// Returns the metrics of a transfer, as measured so far.
    func metrics(of transfer: Transfer) -> ExchangeMetrics {
        var metrics = ExchangeMetrics()
        let lookup = microseconds(CURLINFO_NAMELOOKUP_TIME_T)
        let connect = microseconds(CURLINFO_CONNECT_TIME_T)
        let secure = microseconds(CURLINFO_APPCONNECT_TIME_T)
        let ready = microseconds(CURLINFO_PRETRANSFER_TIME_T)
        // With an upload, libcurl reports the first byte sent as the first byte of the transfer.
        let first = transfer.sent.responseDelay.map { ready + $0 / 1000 } ?? microseconds(CURLINFO_STARTTRANSFER_TIME_T)
        let before = transfer.lookup.time(at: TimeoutTracker.now()) / 1000
        let total = before + microseconds(CURLINFO_TOTAL_TIME_T)
        let opened = curlew_info_long(pointer, CURLINFO_NUM_CONNECTS)
        metrics.nameLookup = .microseconds(before + (opened == 0 ? 0 : lookup))
        metrics.connect = .microseconds(opened == 0 ? 0 : max(0, connect - lookup))
        metrics.secureConnect = .microseconds(opened == 0 || secure == 0 ? 0 : max(0, secure - connect))
        metrics.firstByte = .microseconds(max(0, first - ready))
        metrics.transfer = .microseconds(max(0, total - before - max(first, ready)))
        metrics.total = .microseconds(total)
        metrics.bytesSent = bytesSent
        metrics.bytesReceived =
            Int64(curlew_info_long(pointer, CURLINFO_HEADER_SIZE))
            + curlew_info_offset(pointer, CURLINFO_SIZE_DOWNLOAD_T)
        // Newer versions also report times for a request that got no connection, so the times do not show whether there
        // was one.
        metrics.reusedConnection = transfer.sent.attempts > 0 ? opened == 0 : nil
        metrics.connectionsOpened = opened
        metrics.remoteAddress = peerAddress()
        return metrics
    }

    /// Returns the address and port of the peer. The string is cached, because a handle usually connects to the same
    /// peer again.
    private func peerAddress() -> String? {
        guard let ip = curlew_info_string(pointer, CURLINFO_PRIMARY_IP), ip.pointee != 0 else { return nil }
        let port = curlew_info_long(pointer, CURLINFO_PRIMARY_PORT)
        if peer.port != port || strcmp(peer.ip, ip) != 0 {
            let text = String(cString: ip)
            peer = Peer(
                ip: Array(text.utf8CString), port: port, text: ConnectionInfo.place(text, port))
        }
        return peer.text
    }

    /// The address and port of the local end of the connection; nil if there is no address.
    var localAddress: String? {
        guard let ip = curlew_info_string(pointer, CURLINFO_LOCAL_IP), ip.pointee != 0 else { return nil }
        return ConnectionInfo.place(String(cString: ip), curlew_info_long(pointer, CURLINFO_LOCAL_PORT))
    }

    private func microseconds(_ info: CURLINFO) -> Int64 {
        curlew_info_offset(pointer, info)
    }
}

/// The address and port of the last peer of a handle, separately and as one string.
struct Peer {
    var ip: [CChar] = [0]
    var port = 0
    var text = ""
}
#endif
