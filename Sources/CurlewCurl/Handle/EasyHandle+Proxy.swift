// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Sets the proxy options. libcurl reuses a connection only for the same proxy and credentials.
extension EasyHandle {
    /// Sets how the certificates of proxies are verified, for all requests. Proxies must be trusted by the same roots
    /// as servers.
    func setProxyTrust() {
        guard proxies.needsTrust else { return }
        set(CURLOPT_PROXY_SSLVERSION, configuration.tls.minimumVersion == .v13 ? 7 : 6)
        setRoots(CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH, CURLOPT_PROXY_CAINFO_BLOB)
    }

    /// Sets the proxy; nil connects directly to the server.
    func setProxy(_ proxy: TransportConfiguration.Proxy.Server?) {
        current.proxy = proxy
        guard !proxies.isEmpty else { return }
        setText(CURLOPT_PROXY, proxy?.url ?? "")
        let authentication = proxy?.authentication ?? .basic
        set(CURLOPT_PROXYAUTH, authentication.option)
        // Without a tunnel, the proxy would challenge each request, and every request would be sent twice. So Digest
        // and Negotiate are used for tunnels only.
        set(CURLOPT_HTTPPROXYTUNNEL, authentication == .basic ? 0 : 1)
        // Without a user name libcurl does not authenticate at all. An empty name selects the existing Kerberos ticket.
        setText(CURLOPT_PROXYUSERNAME, proxy?.user ?? (authentication == .negotiate ? "" : nil))
        setText(CURLOPT_PROXYPASSWORD, proxy?.password)
    }
}

extension TransportConfiguration.Proxy.Server.Authentication {
    /// The bit of libcurl's authentication mask.
    fileprivate var option: Int {
        switch self {
        case .basic: curlew_auth_basic
        case .digest: curlew_auth_digest
        case .negotiate: curlew_auth_negotiate
        }
    }
}

extension CurlFailure {
    /// Returns the reason if the proxy caused the failure, or nil if it did not.
    static func proxyReason(_ code: CURLcode, handle: EasyHandle, transfer: Transfer) -> NetworkError.Reason? {
        guard handle.current.proxy != nil, !transfer.received.head.isComplete else { return nil }
        // The proxy's response takes precedence over the code: newer versions report a refused tunnel as a refused
        // connection.
        if let refusal = tunnelRefusal(handle, transfer) { return refusal }
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: return .proxyFailed(.unreachable)
        case CURLE_PROXY: return socksReason(curlew_info_long(handle.pointer, CURLINFO_PROXY_ERROR))
        // The tunnel was not open yet, so the proxy closed the connection.
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            return isWaitingForTunnel(handle, transfer) ? .proxyFailed(.refused(nil)) : nil
        default: return nil
        }
    }

    private static func tunnelRefusal(_ handle: EasyHandle, _ transfer: Transfer) -> NetworkError.Reason? {
        let status = curlew_info_long(handle.pointer, CURLINFO_HTTP_CONNECTCODE)
        guard usesTunnel(handle, transfer), status != 0, !(200...299).contains(status) else { return nil }
        return .proxyFailed(status == 407 ? .notAuthenticated : .refused(HTTPStatus(status)))
    }

    private static func usesTunnel(_ handle: EasyHandle, _ transfer: Transfer) -> Bool {
        transfer.plan.request.origin.isSecure || (handle.current.proxy?.authentication ?? .basic) != .basic
    }

    private static func isWaitingForTunnel(_ handle: EasyHandle, _ transfer: Transfer) -> Bool {
        usesTunnel(handle, transfer) && transfer.sent.attempts == 0
            && curlew_info_long(handle.pointer, CURLINFO_HTTP_CONNECTCODE) == 0
    }

    /// Returns the reason for a SOCKS error: `.proxyFailed` if the proxy failed, `.unreachable` if the proxy cannot
    /// reach the server.
    private static func socksReason(_ error: Int) -> NetworkError.Reason {
        switch CURLproxycode(rawValue: UInt32(truncatingIfNeeded: error)) {
        case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_CONNECTION_REFUSED,
            CURLPX_REPLY_TTL_EXPIRED, CURLPX_RESOLVE_HOST:
            .unreachable
        case CURLPX_USER_REJECTED, CURLPX_NO_AUTH: .proxyFailed(.notAuthenticated)
        default: .proxyFailed(.refused(nil))
        }
    }
}
#endif
