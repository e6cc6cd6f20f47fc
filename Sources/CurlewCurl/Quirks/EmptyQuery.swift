// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Quirk of libcurl 8.12.1 and 8.14.1: they omit an empty query. They send `/?` as `/`, which is a different resource.
/// 7.88.1, 8.4.0 and 8.23.0 send the empty query. From 8.5.0 on and before 8.23.0, the transport sets the request
/// target explicitly, and no version changes a target that is set explicitly.
extension EasyHandle {
    private static let isNeeded = (0x08_05_00..<0x08_17_00).contains(CurlLibrary.current.version)

    /// Sets the request target if the URL ends with an empty query, and clears it otherwise. There is no workaround if
    /// an HTTP proxy receives the complete URL instead of the target.
    func setTarget(of transfer: Transfer) {
        let target =
            Self.isNeeded && transfer.plan.url.utf8.last == UInt8(ascii: "?") ? emptyQueryTarget(transfer) : nil
        guard current.target != target else { return }
        current.target = target
        setText(CURLOPT_REQUEST_TARGET, target)
    }

    private func emptyQueryTarget(_ transfer: Transfer) -> String? {
        let origin = transfer.plan.request.origin
        return proxies.proxy(for: origin)?.receivesURLs(to: origin) == true ? nil : transfer.plan.request.target
    }
}

extension TransportConfiguration.Proxy.Server {
    /// Whether the proxy receives the complete URLs of requests to `origin`: it is an HTTP proxy without a tunnel. See
    /// `EasyHandle.setProxy(_:)`.
    func receivesURLs(to origin: Origin) -> Bool {
        kind != .socks5 && !origin.isSecure && authentication == .basic
    }
}
#endif
