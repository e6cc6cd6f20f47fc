// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

extension EasyHandle {
    /// Returns the metrics of a transfer, as measured so far.
    ///
    /// libcurl measures when phases ended, from the moment at which it received the transfer. The time since then comes
    /// from the transport's clock: libcurl updates its own total only when something happens, and a transfer that times
    /// out or is cancelled ends because nothing does.
    func metrics(of transfer: Transfer) -> ExchangeMetrics {
        var metrics = ExchangeMetrics()
        let now = TimeoutTracker.now()
        let before = transfer.lookupTime(at: now) / 1000
        let running = max(0, transfer.clock.running(at: now) / 1000 - before)
        let lookup = microseconds(CURLINFO_NAMELOOKUP_TIME_T)
        let connect = microseconds(CURLINFO_CONNECT_TIME_T)
        let secure = microseconds(CURLINFO_APPCONNECT_TIME_T)
        let ready = microseconds(CURLINFO_PRETRANSFER_TIME_T)
        // With an upload, libcurl reports the first byte sent as the first byte of the transfer.
        let responded =
            transfer.sent.hasUpload
            ? transfer.sent.responseDelay.map { ready + $0 / 1000 } ?? 0 : microseconds(CURLINFO_STARTTRANSFER_TIME_T)
        let opened = curlew_info_long(pointer, CURLINFO_NUM_CONNECTS)
        var phases: (lookup: Int64, connect: Int64, secure: Int64) = (0, 0, 0)
        if opened > 0 {
            // The phase in which the transfer ended, or is now, has no end of its own yet.
            let isReady = ready > 0
            phases.lookup = lookup > 0 || isReady ? lookup : running
            if lookup > 0 || isReady { phases.connect = (connect > 0 || isReady ? connect : running) - lookup }
            if secure > 0 || connect > 0 && !isReady { phases.secure = (secure > 0 ? secure : running) - connect }
        }
        let first = responded > 0 ? responded : running
        metrics.nameLookup = .microseconds(before + phases.lookup)
        metrics.connect = .microseconds(max(0, phases.connect))
        metrics.secureConnect = .microseconds(max(0, phases.secure))
        metrics.firstByte = .microseconds(ready > 0 ? max(0, first - ready) : 0)
        metrics.transfer = .microseconds(max(0, running - max(first, ready)))
        metrics.total = transfer.clock.elapsed(at: now)
        metrics.bytesSent = bytesSent
        metrics.bytesReceived =
            Int64(curlew_info_long(pointer, CURLINFO_HEADER_SIZE))
            + curlew_info_offset(pointer, CURLINFO_SIZE_DOWNLOAD_T)
        // Newer versions also report times for a request that got no connection, so the times do not show whether there
        // was one.
        metrics.reusedConnection = transfer.sent.attempts > 0 ? opened == 0 : nil
        metrics.connectionsOpened = opened
        metrics.remoteAddress = address(CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT)
        return metrics
    }

    /// The address and port of the local end of the connection; nil if there is no address.
    var localAddress: String? { address(CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT) }

    private func address(_ ip: CURLINFO, _ port: CURLINFO) -> String? {
        guard let text = curlew_info_string(pointer, ip), text.pointee != 0 else { return nil }
        return ExchangeMetrics.Connection.addressText(String(cString: text), curlew_info_long(pointer, port))
    }

    private func microseconds(_ info: CURLINFO) -> Int64 {
        curlew_info_offset(pointer, info)
    }
}
#endif
