// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import CurlewFoundation

/// Sets the trusted roots, the client identity and the pins.
///
/// A connection is reused only for the same identity and pins. libcurl compares the identity and the pins of the
/// server's own key. It also compares the TLS versions, which represent the pins of the verified path; see `setPath`.
extension EasyHandle {
    /// Sets the TLS versions and the trusted roots, which are the same for all servers.
    func setTrust() {
        setVersions(enforcesPath: false)
        watchSecureContexts()
        setRoots(CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_CAINFO_BLOB)
    }

    /// Sets the trusted roots with the options for a file, a folder and data.
    ///
    /// With only a file, libcurl keeps the parsed authorities between connections. With a folder in addition, which
    /// some systems set by default, it would parse them again for each connection, at ten times the cost.
    func setRoots(_ file: CURLoption, _ folder: CURLoption, _ data: CURLoption) {
        switch configuration.tls.trustedRoots {
        case .system:
            guard let roots = CurlLibrary.current.systemRoots else { return }
            setText(file, roots)
        case .file(let path): setText(file, path)
        case .pem(let roots): setData(data, roots)
        }
        setText(folder, nil)
    }

    /// Sets the proxy and the client identity for the server of `transfer`, and the pins that the server must match.
    func setServer(of transfer: Transfer) {
        let tls = configuration.tls
        guard tls.identity != nil || !tls.pins.isEmpty || !proxies.isEmpty else { return }
        let origin = transfer.plan.request.origin
        if current.origin != origin {
            let host = origin.host
            setProxy(proxies.proxy(for: origin))
            setIdentity(tls.identity.flatMap { $0.isMeant(for: host) ? $0 : nil })
            current.pins = tls.pins.first(for: host)
            set(CURLOPT_CERTINFO, current.pins?.scope == .serverCertificate ? 1 : 0)
            current.origin = origin
        }
        let pins = current.pins.flatMap { pins in
            pins.expires.map { transfer.plan.context.time.date >= $0 } ?? false ? nil : pins
        }
        setPath(pins.flatMap { $0.scope == .verifiedChain ? $0 : nil })
        let pinned = pins.flatMap { $0.scope == .serverCertificate && $0.mode == .enforce ? $0.keys : nil }
        let keys = pinned?.joined(separator: ";")
        if current.enforcedPins != .some(keys) {
            setText(CURLOPT_PINNEDPUBLICKEY, keys)
            current.enforcedPins = .some(keys)
        }
    }

    /// Makes new connections compare their verified certificate path with `pins`; nil disables the comparison.
    ///
    /// Only a full handshake verifies a path, so sessions are not resumed. A connection that was opened without
    /// enforcing the pins must not be used when they are enforced, but libcurl does not know about these pins. It does
    /// compare TLS versions. The newest version can be specified in two equivalent ways, which represent the two cases.
    private func setPath(_ pins: TransportConfiguration.TLS.PinSet?) {
        guard current.pathPins != pins else { return }
        current.pathPins = pins
        set(CURLOPT_SSL_SESSIONID_CACHE, pins == nil ? 1 : 0)
        setVersions(enforcesPath: pins?.mode == .enforce)
    }

    private func setVersions(enforcesPath: Bool) {
        let oldest = configuration.tls.minimumVersion == .v13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        let newest = enforcesPath ? CURL_SSLVERSION_MAX_DEFAULT : CURL_SSLVERSION_MAX_NONE
        set(CURLOPT_SSLVERSION, Int(oldest) | Int(newest))
    }

    /// Returns the warnings for observers about a new connection to a pinned server.
    func warnings(for transfer: Transfer) -> [ExchangeEvent.Warning] {
        guard let pins = current.pins, transfer.plan.request.origin.isSecure else { return [] }
        let host = transfer.plan.request.origin.host
        let warning = pins.warning(for: host, at: transfer.plan.context.time.date)
        if case .pinsExpired? = warning { return warning.map { [$0] } ?? [] }
        return (warning.map { [$0] } ?? []) + mismatch(pins, host)
    }

    /// The pin of the server's key, if this transfer opened the connection.
    var serverPin: String? {
        guard let text = curlew_server_certificate(pointer, 0) else { return nil }
        return TransportConfiguration.TLS.PinSet.key(ofCertificate: Data(String(cString: text).utf8))
    }

    /// The certificates that the server of a new connection presented, the server's own first. A handshake that resumes
    /// a session verifies nothing, so the check receives no certificates. libcurl then provides them if the host has
    /// pins for the server's own key.
    var presentedCertificates: [ExchangeMetrics.Connection.PeerCertificate] {
        let verified = serverCheck?.certificates ?? []
        guard verified.isEmpty else { return verified }
        return ExchangeMetrics.Connection.PeerCertificate.list(
            (0..<Int32(ExchangeMetrics.Connection.PeerCertificate.maximumCount)).lazy.compactMap { [pointer] index in
                curlew_server_certificate(pointer, index).map { Data(String(cString: $0).utf8) }
            })
    }

    private func mismatch(_ pins: TransportConfiguration.TLS.PinSet, _ host: String) -> [ExchangeEvent.Warning] {
        guard pins.mode == .reportOnly else { return [] }
        let chain = pins.scope == .verifiedChain ? serverCheck?.path ?? [] : serverPin.map { [$0] } ?? []
        guard !chain.isEmpty, let found = pins.mismatch(in: chain) else { return [] }
        return [.pinMismatch(host: host, found: found)]
    }

    private func setIdentity(_ identity: TransportConfiguration.TLS.ClientIdentity?) {
        var (certificate, key): (String?, String?)
        var (certificateData, keyData): (Data?, Data?)
        var type = "PEM"
        switch identity?.source {
        case .pem(let text, let keyText)?: (certificateData, keyData) = (text, keyText)
        case .pemFiles(let path, let keyPath)?: (certificate, key) = (path, keyPath)
        case .pkcs12(let archive)?: (certificateData, type) = (archive, "P12")
        case .pkcs12File(let path)?: (certificate, type) = (path, "P12")
        case nil: break
        }
        setText(CURLOPT_SSLCERT, certificate)
        setData(CURLOPT_SSLCERT_BLOB, certificateData)
        setText(CURLOPT_SSLKEY, key)
        setData(CURLOPT_SSLKEY_BLOB, keyData)
        setText(CURLOPT_SSLCERTTYPE, type)
        setText(CURLOPT_KEYPASSWD, identity?.passphrase)
    }
}
#endif
