// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import CurlewFoundation

/// A check of one connection's certificates against the host's pins. It keeps the certificates for error descriptions.
///
/// The connection retains the check, and with it the applicable rules, until it closes: with TLS 1.2 a server may
/// repeat the handshake at any time. Used only on the event loop's thread.
final class ServerCheck {
    /// The host's pins for the verified certificate path; nil if it has none.
    private let pins: TransportConfiguration.TLS.PinSet?
    /// The certificates of the last handshake, until they are no longer needed.
    private var presented: OpaquePointer?
    /// The pins of the certificates on the verified path, the server's own first; empty without `pins`. An element is
    /// nil if its key cannot be read.
    private(set) var path: [String?] = []
    /// The pins of a path that does not match the enforced pins, for the error; nil if there is no mismatch.
    private(set) var refused: String?
    /// Whether the certificate is trusted and matches the pins.
    private(set) var isAdmitted = false

    /// Whether the server requested a client certificate and none was available.
    fileprivate(set) var lacksCertificate = false

    init(pins: TransportConfiguration.TLS.PinSet?) {
        self.pins = pins
    }

    deinit {
        curlew_release_certificates(presented)
    }

    /// The certificates that the server presented. They are parsed only when this property is read.
    var certificates: [ExchangeMetrics.Connection.PeerCertificate] { Self.certificates(of: presented) }

    /// Returns the certificates of an OpenSSL stack, at most ten.
    static func certificates(of stack: OpaquePointer?) -> [ExchangeMetrics.Connection.PeerCertificate] {
        let count = min(curlew_certificate_count(stack), Int32(ExchangeMetrics.Connection.PeerCertificate.maximumCount))
        return ExchangeMetrics.Connection.PeerCertificate.list(
            (0..<count).lazy.compactMap { bytes(of: stack, $0, curlew_certificate_bytes) })
    }

    /// Releases the certificates of the last handshake.
    func forgetCertificates() {
        curlew_release_certificates(presented)
        presented = nil
    }

    fileprivate func verify(_ presented: OpaquePointer?, _ path: OpaquePointer?) -> Bool {
        forgetCertificates()
        self.presented = curlew_retain_certificates(presented)
        refused = nil
        isAdmitted = false
        guard let path else { return false }
        if let pins {
            self.path = (0..<curlew_certificate_count(path)).map { index in
                Self.bytes(of: path, index, curlew_certificate_key).map(
                    TransportConfiguration.TLS.PinSet.key(ofPublicKey:))
            }
            if pins.mode == .enforce { refused = pins.mismatch(in: self.path) }
        }
        isAdmitted = refused == nil
        return isAdmitted
    }

    private static func bytes(
        of certificates: OpaquePointer?, _ index: Int32,
        _ write: (OpaquePointer?, Int32, UnsafeMutablePointer<UInt8>?) -> Int32
    ) -> Data? {
        let length = Int(write(certificates, index, nil))
        guard length > 0, length <= ExchangeMetrics.Connection.PeerCertificate.maximumSize else { return nil }
        var bytes = Data(count: length)
        let written = bytes.withUnsafeMutableBytes {
            write(certificates, index, $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        return written == length ? bytes : nil
    }
}

/// Called when OpenSSL has verified the certificates of a server, successfully or not. The context is the check.
func verifyCertificates(
    _ context: UnsafeMutableRawPointer?, _ presented: OpaquePointer?, _ path: OpaquePointer?
) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<ServerCheck>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.verify(presented, path) ? 1 : 0 }
}

/// Called when a server requests a client certificate and there is none. The context is the check.
func noteCertificateRequest(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<ServerCheck>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.lacksCertificate = true }
}

/// Called when a connection with `verifyCertificates` is destroyed.
func releaseServerCheck(_ context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<ServerCheck>.fromOpaque(context).release() }
}

/// Called when libcurl has created the OpenSSL settings (an SSL_CTX) of a connection. The context is the handle.
func prepareSecureContext(
    _ easy: UnsafeMutableRawPointer?, _ secureContext: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let secureContext, let context else { return CURLE_OK }
    withTransfer(context, otherwise: ()) { $0.noteOpening() }
    return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.watch(secureContext) }
}

extension EasyHandle {
    /// Installs `prepareSecureContext`, which is called for each connection.
    func watchSecureContexts() {
        guard CurlLibrary.current.showsSecureContexts else { return }
        check(
            curlew_set_secure_context_callback(pointer, CURLOPT_SSL_CTX_FUNCTION, prepareSecureContext),
            CURLOPT_SSL_CTX_FUNCTION)
        setPointer(CURLOPT_SSL_CTX_DATA, context)
    }

    private var forbidsKeyLog: Bool {
        CurlLibrary.current.mayLogKeys && !configuration.tls.obeysKeyLogFile
    }

    fileprivate func watch(_ secureContext: UnsafeMutableRawPointer) -> CURLcode {
        if forbidsKeyLog { curlew_remove_key_log(secureContext) }
        guard CurlLibrary.current.pathProblem == nil else { return CURLE_OK }
        let check = ServerCheck(pins: isForProxy ? nil : current.pathPins)
        serverCheck = check
        let reference = Unmanaged.passRetained(check)
        if curlew_check_certificates(secureContext, reference.toOpaque()) == 0 {
            reference.release()
            return CURLE_OUT_OF_MEMORY
        }
        return CURLE_OK
    }

    /// Whether the current handshake is with a proxy, to which pins do not apply. The handshake with the server follows
    /// when the proxy has opened the tunnel.
    private var isForProxy: Bool {
        guard current.proxy?.kind == .https else { return false }
        let status = curlew_info_long(pointer, CURLINFO_HTTP_CONNECTCODE)
        return current.origin?.isSecure != true || !(200...299).contains(status)
    }

    /// Returns the error if the certificate path of the connection that `transfer` opened was not compared with the
    /// pins, so that the transfer must not use it. Returns nil otherwise. No known libcurl version causes this.
    func uncheckedPath(of transfer: Transfer) -> NetworkError? {
        guard let pins = current.pathPins, pins.mode == .enforce, transfer.plan.request.origin.isSecure,
            serverCheck?.isAdmitted != true, curlew_info_long(pointer, CURLINFO_NUM_CONNECTS) > 0
        else { return nil }
        return pins.refusal(of: transfer.plan.request.origin.host, found: "not known")
    }
}
#endif
