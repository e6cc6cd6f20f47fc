// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Sets the options for connections, HTTP versions and name lookups.
extension EasyHandle {
    /// Sets the connection options that are the same for all transfers of a transport.
    func setConnections() {
        let pool = configuration.pool
        set(CURLOPT_MAXAGE_CONN, max(1, pool.idleLifetime.roundedUpSeconds))
        if let lifetime = pool.lifetime { set(CURLOPT_MAXLIFETIME_CONN, max(1, lifetime.roundedUpSeconds)) }
        set(CURLOPT_PIPEWAIT, pool.waitsForMultiplexing && configuration.httpVersions != .http1Only ? 1 : 0)
        if let keepAlive = pool.keepAlive {
            set(CURLOPT_TCP_KEEPALIVE, 1)
            // The system accepts at most 32,767 s.
            let seconds = min(max(1, keepAlive.roundedUpSeconds), 32_767)
            set(CURLOPT_TCP_KEEPIDLE, seconds)
            set(CURLOPT_TCP_KEEPINTVL, seconds)
        }
        switch configuration.localAddress {
        case .address(let address): setText(CURLOPT_INTERFACE, "host!\(address)")
        case .interface(let name): setText(CURLOPT_INTERFACE, "if!\(name)")
        case nil: break
        }
        if let path = configuration.unixSocket {
            setText(CURLOPT_UNIX_SOCKET_PATH, path)
            // Without ports, the event loop cannot find the connection, and bytes on an idle one would be unnoticed.
            set(CURLOPT_FORBID_REUSE, 1)
        }
    }

    /// Sets the allowed HTTP versions.
    ///
    /// Without TLS, HTTP/2 cannot be negotiated. Requesting HTTP/1.1 then saves concurrent calls from waiting for the
    /// first response.
    func setVersion(of transfer: Transfer) {
        let mayBeNew =
            CurlLibrary.current.supportsHTTP2 && transfer.plan.request.origin.isSecure
            && transfer.loop?.mixedVersions.areMixed(at: transfer.plan.request.origin) != true
        let version =
            switch configuration.httpVersions {
            case .automatic: mayBeNew ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
            case .http1Only: CURL_HTTP_VERSION_1_1
            case .http2PriorKnowledge: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
            }
        if current.version != version {
            set(CURLOPT_HTTP_VERSION, version)
            current.version = version
        }
        setReuse(of: transfer)
    }

    /// Sets whether `transfer` may use an existing connection.
    func setReuse(of transfer: Transfer) {
        setReuse(opens: transfer.plan.opensConnection || mayFindEnded(transfer))
    }

    private func setReuse(opens: Bool) {
        guard current.opensConnection != opens, !alwaysOpens else { return }
        set(CURLOPT_FRESH_CONNECT, opens ? 1 : 0)
        current.opensConnection = opens
    }

    /// The number of idle connections that a request tries before it opens a new one. Servers close idle connections in
    /// groups, for example when they restart, and libcurl fails the transfer at the sixth closed connection.
    static let reusesBeforeOpening = 2

    /// If libcurl must send the request again, it opens a connection for it. Called from callbacks.
    func openNextConnection() { setReuse(opens: true) }

    /// Whether every transfer needs a new connection, because this libcurl cannot reuse connections with the configured
    /// HTTP version.
    var alwaysOpens: Bool {
        configuration.httpVersions == .http2PriorKnowledge && CurlLibrary.current.cannotReusePriorKnowledge
    }

    func setNames() {
        let dns = configuration.dns
        check(curlew_set_lookup_callback(pointer, CURLOPT_RESOLVER_START_FUNCTION, beginLookup))
        setPointer(CURLOPT_RESOLVER_START_DATA, context)
        set(CURLOPT_DNS_CACHE_TIMEOUT, max(0, dns.cacheLifetime.roundedUpSeconds))
        let delay = dns.happyEyeballsDelay.roundedUpMilliseconds
        set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, Int(Int32(clamping: max(1, delay))))
        if dns.addresses != .any {
            set(CURLOPT_IPRESOLVE, Int(dns.addresses == .ipv4 ? CURL_IPRESOLVE_V4 : CURL_IPRESOLVE_V6))
        }
        for line in dns.overrides.compactMap(\.line) { appendOverride(line) }
    }
}

extension Duration {
    /// The duration in seconds, rounded up and clamped to the range that libcurl accepts.
    fileprivate var roundedUpSeconds: Int {
        Int(Int32(clamping: roundedUpMilliseconds / 1000 + (roundedUpMilliseconds % 1000 > 0 ? 1 : 0)))
    }
}
#endif
