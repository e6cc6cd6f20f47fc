// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore

extension CurlAgent {
    /// Ends all transfers if libcurl has failed as a whole, mostly for want of memory: it then may have forgotten some of
    /// them, whose callers would wait for ever.
    func endAfterFault(of pump: SocketPump) {
        guard let code = pump.takeFault() else { return }
        let text = curl_multi_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
        for transfer in Array(transfers.values) {
            end(transfer, with: CurlFailure.fault("libcurl failed: \(text).", transfer: transfer))
        }
    }
}
#endif
