// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The mapping from libcurl's result codes to `NetworkError`. The error's `underlying` contains the code, the message
/// and errno.
enum CurlFailure {
    /// CURLE_TOO_LARGE, which the headers of older versions do not define.
    private static let tooLarge = CURLcode(rawValue: 100)

    static let nameHint = "Check the name of the host, and the name servers of this machine."
    static let protocolHint = "Check scheme and port: what arrived is not HTTP."

    /// Returns the error for a transfer that libcurl ended with `code`.
    static func error(
        _ code: CURLcode, handle: EasyHandle, transfer: Transfer, message own: String? = nil
    ) -> NetworkError {
        if let own = transfer.state.failure { return completed(own, transfer) }
        let repetition = repetitionReason(code, transfer)
        if repetition == nil, let refusal = addressRefusal(code, transfer: transfer) {
            return completed(refusal, transfer)
        }
        if repetition == nil, code == CURLE_COULDNT_CONNECT, transfer.connection.lacksDescriptor {
            return completed(EventLoop.noDescriptor, transfer)
        }
        let message =
            code == CURLE_OK
            ? "The connection closed before the response head was complete." : own ?? handle.message(for: code)
        var systemError = Int32(truncatingIfNeeded: curlew_info_long(handle.pointer, CURLINFO_OS_ERRNO))
        // libcurl does not distinguish a name without an address from a machine without a network.
        if code == CURLE_COULDNT_RESOLVE_HOST, !NetworkInterfaces.isAnyUp { systemError = ENETDOWN }
        let refusal = pinRefusal(code, handle: handle, transfer: transfer)
        var error = NetworkError(
            refusal?.reason ?? repetition ?? proxyReason(code, handle: handle, transfer: transfer)
                ?? reason(for: code, message: message, handle: handle, transfer: transfer),
            detail: refusal?.detail ?? message,
            underlying: NetworkError.TransportFailure(
                engine: CurlLibrary.current.name, code: Int(code.rawValue), message: message,
                systemError: systemError))
        if error.reason.isAboutCertificate { error.certificates = handle.presentedCertificates }
        if error.reason == .secureConnectionFailed(.clientCertificate), handle.serverCheck?.lacksCertificate == true {
            error.hint = "The server requires a client certificate: set TransportConfiguration.TLS.identity."
        }
        switch (error.reason, code) {
        case (.configuration, _):
            error.hint = hint(for: code, handle: handle)
        case (.unreachable, CURLE_COULDNT_RESOLVE_HOST) where systemError != ENETDOWN:
            error.hint = nameHint
        case (.secureConnectionFailed(.handshake), _) where message.contains("wrong version number"):
            error.hint = "Check scheme and port: the server does not speak TLS there."
        case (.badResponse, _) where message.contains("HTTP/0.9"):
            error.hint = protocolHint
        default: break
        }
        if error.reason == .limitExceeded(.responseHeaders), isHeadTooLarge(code, message) {
            error.hint =
                "libcurl accepts at most 300 KB of heads for one call; limits.headerBytes cannot raise that."
        }
        return completed(error, transfer)
    }

    /// Returns the error for a transfer whose host or proxy name could not be resolved.
    static func lookup(
        of name: String, _ reason: String, _ handle: EasyHandle, _ transfer: Transfer
    ) -> NetworkError {
        let code = handle.current.proxy == nil ? CURLE_COULDNT_RESOLVE_HOST : CURLE_COULDNT_RESOLVE_PROXY
        return error(code, handle: handle, transfer: transfer, message: "Could not resolve host: \(name) (\(reason))")
    }

    /// Returns the error for a transfer that the event loop ended because `phase` timed out.
    static func timeout(_ phase: NetworkError.Phase, transfer: Transfer) -> NetworkError {
        completed(.timeout(phase, transfer.plan.context.timeouts, transfer.clock), transfer)
    }

    /// Returns the error for a transfer that the event loop ended because libcurl failed for all transfers.
    static func fault(_ detail: String, transfer: Transfer) -> NetworkError {
        let delivery = transfer.easy.map(delivery) ?? NetworkError.Delivery.requestMayHaveArrived
        return completed(NetworkError(.connectionLost(delivery), detail: detail), transfer)
    }

    static func completed(_ error: NetworkError, _ transfer: Transfer) -> NetworkError {
        var error = error
        error.request = NetworkError.RequestLine(transfer.plan.request)
        if transfer.received.head.isComplete, error.response == nil {
            error.response = NetworkError.Response(
                status: transfer.received.head.status, headers: transfer.received.head.headers,
                body: transfer.received.gathered.prefix(transfer.plan.context.limits.errorExcerpt), isTruncated: true,
                date: transfer.plan.context.time.date)
        }
        return error
    }

    private static func reason(
        for code: CURLcode, message: String, handle: EasyHandle, transfer: Transfer
    ) -> NetworkError.Reason {
        switch code {
        case CURLE_URL_MALFORMAT: .invalidRequest
        // libcurl was built without the requested HTTP version.
        case CURLE_UNSUPPORTED_PROTOCOL where !wasSent(handle): .configuration
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: .badResponse
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: .unreachable
        // libcurl enforces only the connect timeout; the event loop enforces all others.
        case CURLE_OPERATION_TIMEDOUT: .timedOut(.connect)
        // libcurl's own limits: one line of a head, and the data that it decodes ahead of a paused reader. Older
        // versions report the first code, newer ones the second.
        case CURLE_OUT_OF_MEMORY where wasSent(handle), tooLarge:
            .limitExceeded(transfer.received.head.isComplete ? .responseBody : .responseHeaders)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CRL_BADFILE, CURLE_UNKNOWN_OPTION, CURLE_NOT_BUILT_IN, CURLE_OUT_OF_MEMORY,
            CURLE_BAD_FUNCTION_ARGUMENT, CURLE_FAILED_INIT, CURLE_INTERFACE_FAILED, CURLE_SETOPT_OPTION_SYNTAX:
            .configuration
        case CURLE_PEER_FAILED_VERIFICATION: .secureConnectionFailed(verification(handle, message))
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .secureConnectionFailed(.pinMismatch)
        case _ where refusesOurCertificate(code, message): .secureConnectionFailed(.clientCertificate)
        // With TLS 1.2 the server reports only a failed handshake, or just closes the connection.
        case CURLE_SSL_CONNECT_ERROR where handle.serverCheck?.lacksCertificate == true:
            .secureConnectionFailed(.clientCertificate)
        // No byte of the request is sent before the handshake completes.
        case CURLE_SSL_CONNECT_ERROR where isBrokenConnection(handle, message): .connectionLost(.requestNotSent)
        case CURLE_SSL_CONNECT_ERROR: .secureConnectionFailed(.handshake)
        case CURLE_HTTP2_STREAM where message.contains("REFUSED_STREAM"): .connectionLost(.requestNotSent)
        // libcurl found an error in what the peer sent. With other HTTP/2 error codes, and with CURLE_HTTP2, the peer
        // ended the stream or the connection.
        case CURLE_HTTP2_STREAM where message.contains("PROTOCOL_ERROR"): .badResponse
        case CURLE_ABORTED_BY_CALLBACK, CURLE_READ_ERROR, CURLE_WRITE_ERROR: .connectionLost(delivery(handle))
        case _ where isHeadTooLarge(code, message): .limitExceeded(.responseHeaders)
        // Only the text distinguishes invalid framing from a broken connection. It differs by version: "... in
        // chunked-encoding", "chunk hex-length ...", "invalid chunk size ...".
        case CURLE_RECV_ERROR where message.contains("chunk"): .badResponse
        // CURLE_OK without a head, GOT_NOTHING, HTTP2, SEND_ERROR, RECV_ERROR, PARTIAL_FILE, SEND_FAIL_REWIND and codes
        // of later versions.
        default: .connectionLost(delivery(handle))
        }
    }

    /// Returns the reason if libcurl sent the request on a connection that was lost, and then could not connect to send
    /// it again. Returns nil otherwise. The error must not report that nothing was sent.
    private static func repetitionReason(_ code: CURLcode, _ transfer: Transfer) -> NetworkError.Reason? {
        let noWay = [
            CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY,
            CURLE_OPERATION_TIMEDOUT,
        ]
        guard transfer.sent.attempts > 0, !transfer.plan.mayRepeat, noWay.contains(code) else { return nil }
        return .connectionLost(.requestMayHaveArrived)
    }

    /// Returns whether libcurl's own limit ended the transfer: it limits the total size of all heads of a transfer,
    /// including interim responses.
    private static func isHeadTooLarge(_ code: CURLcode, _ message: String) -> Bool {
        (code == CURLE_RECV_ERROR || code == tooLarge) && message.contains("Too large response headers")
    }

    private static func wasSent(_ handle: EasyHandle) -> Bool {
        curlew_info_long(handle.pointer, CURLINFO_REQUEST_SIZE) > 0
    }

    private static func delivery(_ handle: EasyHandle) -> NetworkError.Delivery {
        wasSent(handle) ? .requestMayHaveArrived : .requestNotSent
    }
}
#endif
