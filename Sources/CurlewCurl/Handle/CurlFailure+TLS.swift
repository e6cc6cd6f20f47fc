// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Classifies failures of TLS connections.
extension CurlFailure {
    /// Returns why the verification of a server failed, from OpenSSL's result (the X509_V_ERR_ numbers). libcurl checks
    /// the host name itself: it then reports only a message, and OpenSSL's result is an unrelated number.
    static func verification(_ handle: EasyHandle, _ message: String) -> NetworkError.TLSFailure {
        if message.contains("subject name") || message.contains("host name") { return .wrongHost }
        return switch curlew_info_long(handle.pointer, CURLINFO_SSL_VERIFYRESULT) {
        case 9: .notYetValid
        case 10: .expired
        case 62: .wrongHost
        default: .untrusted
        }
    }

    /// Returns whether the server refused the client's certificate, or refused the client because it has none (RFC 8446
    /// §6.2). With TLS 1.3 the alert arrives when the client has already finished the handshake.
    static func refusesOurCertificate(_ code: CURLcode, _ message: String) -> Bool {
        if code == CURLE_SSL_CLIENTCERT { return true }
        guard [CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR].contains(code),
            let alert = message.utf8.firstRange(of: " alert ".utf8)
        else { return false }
        let words = message[alert.upperBound...]
        return words.contains("certificate") || words.contains("unknown ca")
    }

    /// Returns whether the handshake failed because the peer closed or reset the connection, as servers do when they
    /// restart. A peer that refuses the handshake sends an alert instead, and if the client refuses it, libcurl reports
    /// another message. The strings are from libcurl and from OpenSSL 1.1 and 3. libcurl 8.12.1 reports the last one if
    /// OpenSSL reports no error.
    static func isBrokenConnection(_ handle: EasyHandle, _ message: String) -> Bool {
        if brokenErrors.contains(Int32(truncatingIfNeeded: curlew_info_long(handle.pointer, CURLINFO_OS_ERRNO))) {
            return true
        }
        return brokenTexts.contains { message.contains($0) }
    }

    private static let brokenTexts = [
        "Recv failure", "Send failure", "SSL_ERROR_SYSCALL", "SSL_ERROR_ZERO_RETURN", "unexpected eof",
        "error:00000000:",
    ]

    private static let brokenErrors = [
        ECONNRESET, ECONNABORTED, EPIPE, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH,
    ]

    /// Returns the error for a server without a pinned key, or nil if the pins are not the cause. The error contains
    /// the pins of the server, so that they can be compared with the expected ones.
    static func pinRefusal(_ code: CURLcode, handle: EasyHandle, transfer: Transfer) -> NetworkError? {
        guard let pins = handle.current.pins else { return nil }
        let leaf = code == CURLE_SSL_PINNEDPUBKEYNOTMATCH ? handle.serverPin : nil
        guard let found = handle.serverCheck?.refused ?? leaf else { return nil }
        return pins.refusal(of: transfer.plan.request.origin.host, found: found)
    }

    static let localAddressHint =
        "Check TransportConfiguration.localAddress: this machine must have it, and its family must match the server's "
        + "address."

    static func hint(for code: CURLcode, handle: EasyHandle) -> String? {
        if code == CURLE_INTERFACE_FAILED { return localAddressHint }
        let tls = handle.configuration.tls
        // The code for an unreadable key differs between versions. libcurl reports it when a connection starts TLS.
        let isAboutIdentity = code == CURLE_SSL_CERTPROBLEM || code == CURLE_BAD_FUNCTION_ARGUMENT
        if isAboutIdentity, tls.identity != nil, !handle.refuses(code) {
            return
                "Check TransportConfiguration.TLS.identity: the files, the passphrase, and that key and certificate match."
        }
        guard code == CURLE_SSL_CACERT_BADFILE else { return nil }
        if case .file(let path) = tls.trustedRoots {
            return
                "Check that \(path) exists and contains certificates in PEM format (TransportConfiguration.TLS.trustedRoots)."
        }
        return "Check TransportConfiguration.TLS.trustedRoots, or install the system's certificate authorities."
    }
}
#endif
