// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import FoundationEssentials

/// Trust, identity and pins.
///
/// A connection is used again only for the same identity and pins: libcurl compares both.
extension EasyHandle {
    /// What is the same for all servers.
    func setTrust() {
        set(CURLOPT_SSLVERSION, configuration.tls.minimumVersion == .v13 ? 7 : 6)
        if CurlLibrary.current.mayLogKeys, !configuration.tls.obeysKeyLogFile { curlew_forbid_key_log(pointer) }
        switch configuration.tls.trustedRoots {
        case .system:
            // With a file alone libcurl keeps the parsed authorities between connections; with a folder beside it,
            // which some systems set by default, each connection would parse them again (a tenfold cost).
            guard let roots = CurlLibrary.current.systemRoots else { return }
            setText(CURLOPT_CAINFO, roots)
            setText(CURLOPT_CAPATH, nil)
        case .file(let path):
            setText(CURLOPT_CAINFO, path)
            setText(CURLOPT_CAPATH, nil)
        case .pem(let data):
            setText(CURLOPT_CAPATH, nil)
            setData(CURLOPT_CAINFO_BLOB, data)
        }
    }

    /// What the server of `transfer` gets to see, and what it has to show.
    func setServer(of transfer: Transfer) {
        let tls = configuration.tls
        guard tls.identity != nil || !tls.pins.isEmpty || !proxies.isEmpty else { return }
        let origin = transfer.request.origin
        if current.origin != origin {
            let host = origin.host
            setProxy(proxies.proxy(for: origin))
            setIdentity(tls.identity.flatMap { $0.isMeant(for: host) ? $0 : nil })
            current.pins = tls.pins.first(for: host)
            set(CURLOPT_CERTINFO, current.pins == nil ? 0 : 1)
            current.origin = origin
        }
        let pins = current.pins.flatMap { $0.mode == .enforce && !$0.isOver(in: transfer) ? $0.joinedKeys : nil }
        if current.enforcedPins != .some(pins) {
            setText(CURLOPT_PINNEDPUBLICKEY, pins)
            current.enforcedPins = .some(pins)
        }
    }

    /// What observers hear of a new connection to a pinned server.
    func warnings(for transfer: Transfer) -> [TransportWarning] {
        guard let pins = current.pins, transfer.request.origin.isSecure else { return [] }
        let host = transfer.request.origin.host
        switch (pins.state(at: transfer.context.time.date), pins.expires) {
        case (.ended, let date?): return [.pinsExpired(host: host, on: date)]
        case (.endsSoon, let date?): return [.pinsExpireSoon(host: host, on: date)] + mismatch(pins, host)
        default: return mismatch(pins, host)
        }
    }

    /// The pin of the server's key, if this transfer made the connection.
    var serverPin: String? {
        guard let text = curlew_server_certificate(pointer) else { return nil }
        return PinSet.key(ofCertificate: Data(String(cString: text).utf8))
    }

    private func mismatch(_ pins: PinSet, _ host: String) -> [TransportWarning] {
        guard pins.mode == .reportOnly, let found = serverPin, !pins.keys.contains(found) else { return [] }
        return [.pinMismatch(host: host, found: found)]
    }

    private func setIdentity(_ identity: ClientIdentity?) {
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

extension PinSet {
    fileprivate func isOver(in transfer: Transfer) -> Bool {
        expires != nil && state(at: transfer.context.time.date) == .ended
    }
}
#endif
