// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import FoundationEssentials

/// The certificates of one connection: what errors say about them, and whether the pins of the host admit them.
///
/// The connection keeps it, and with it the rules that count, for as long as it lives: TLS 1.2 lets a server repeat the
/// handshake at any time. Used on the event loop's thread only.
final class ServerCheck {
    /// The set whose scope is the verified path, if the host has one.
    private let pins: PinSet?
    /// What the server presented in the last handshake, until nobody will ask.
    private var presented: OpaquePointer?
    /// The pins of the certificates on the verified path, the server's own first; empty without `pins`.
    private(set) var path: [String?] = []
    /// The keys of a path that the pins do not admit.
    private(set) var refused: String?
    /// The certificate is trusted, and the pins admit it.
    private(set) var isAdmitted = false

    /// The server asked for a certificate of the client, and there was none to show.
    fileprivate(set) var lacksCertificate = false

    init(pins: PinSet?) {
        self.pins = pins
    }

    deinit {
        curlew_release_certificates(presented)
    }

    /// What the server presented. Only references are kept until somebody asks.
    var certificates: [PeerCertificate] {
        Self.certificates(of: presented)
    }

    /// What certificates say, at most ten of them.
    static func certificates(of stack: OpaquePointer?) -> [PeerCertificate] {
        let count = min(curlew_certificate_count(stack), Int32(PeerCertificate.most))
        return PeerCertificate.list(
            (0..<count).lazy.compactMap { bytes(of: stack, $0, curlew_certificate_bytes) })
    }

    /// The certificates are not asked for any more.
    func forgetCertificates() {
        curlew_release_certificates(presented)
        presented = nil
    }

    fileprivate func judge(_ presented: OpaquePointer?, _ path: OpaquePointer?) -> Bool {
        forgetCertificates()
        self.presented = curlew_retain_certificates(presented)
        refused = nil
        isAdmitted = false
        guard let path else { return false }
        if let pins {
            self.path = (0..<curlew_certificate_count(path)).map { place in
                Self.bytes(of: path, place, curlew_certificate_key).map(PinSet.key(ofPublicKey:))
            }
            if pins.mode == .enforce { refused = pins.mismatch(in: self.path) }
        }
        isAdmitted = refused == nil
        return isAdmitted
    }

    private static func bytes(
        of certificates: OpaquePointer?, _ place: Int32,
        _ write: (OpaquePointer?, Int32, UnsafeMutablePointer<UInt8>?) -> Int32
    ) -> Data? {
        let length = Int(write(certificates, place, nil))
        guard length > 0, length <= PeerCertificate.largest else { return nil }
        var bytes = Data(count: length)
        let written = bytes.withUnsafeMutableBytes {
            write(certificates, place, $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        return written == length ? bytes : nil
    }
}

/// Called when OpenSSL has verified the certificates of a server, or has not. The context is the check.
func judgeCertificates(
    _ context: UnsafeMutableRawPointer?, _ presented: OpaquePointer?, _ path: OpaquePointer?
) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<ServerCheck>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.judge(presented, path) ? 1 : 0 }
}

/// Called when a server asks for a certificate and there is none. The context is the check.
func noteCertificateRequest(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<ServerCheck>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.lacksCertificate = true }
}

/// Called when a connection is gone for which `judgeCertificates` was set.
func releaseServerCheck(_ context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<ServerCheck>.fromOpaque(context).release() }
}

/// Called when libcurl has made the settings of OpenSSL for a connection. The context is the handle.
func prepareSecureContext(
    _ easy: UnsafeMutableRawPointer?, _ secureContext: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let secureContext, let context else { return CURLE_OK }
    noteOpened(easy)
    return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.watch(secureContext) }
}

extension EasyHandle {
    /// Has `prepareSecureContext` called for each connection.
    func watchSecureContexts() {
        guard CurlLibrary.current.showsSecureContexts else { return }
        let context = Unmanaged.passUnretained(self).toOpaque()
        check(curlew_set_secure_context_callback(pointer, prepareSecureContext, context), CURLOPT_SSL_CTX_FUNCTION)
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

    /// Whether it is the connection to a proxy that becomes secure: pins are for servers. The connection to the server
    /// itself follows when the proxy has opened the way.
    private var isForProxy: Bool {
        guard current.proxy?.kind == .https else { return false }
        let status = curlew_info_long(pointer, CURLINFO_HTTP_CONNECTCODE)
        return current.origin?.isSecure != true || !(200...299).contains(status)
    }

    /// Why `transfer` must not use the connection that it has made: nobody has compared its path with the pins. That does
    /// not happen with any libcurl that is known.
    func uncheckedPath(of transfer: Transfer) -> NetworkError? {
        guard let pins = current.pathPins, pins.mode == .enforce, transfer.request.origin.isSecure,
            serverCheck?.isAdmitted != true, curlew_info_long(pointer, CURLINFO_NUM_CONNECTS) > 0
        else { return nil }
        return pins.refusal(of: transfer.request.origin.host, found: "not known")
    }
}
#endif
