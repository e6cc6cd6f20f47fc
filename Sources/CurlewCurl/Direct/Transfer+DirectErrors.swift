// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The errors of the transport's own connections. Their `underlying` has the error codes of libcurl, so that an app
/// need not know what performed the exchange.
extension Transfer {
    func directTimeout(_ phase: NetworkError.Phase) -> NetworkError {
        CurlFailure.timeout(phase, transfer: self)
    }

    /// Returns the error for a host without addresses.
    func unresolved(_ host: String, _ reason: String) -> NetworkError {
        // The system does not distinguish a name without an address from a machine without a network.
        let isOnline = NetworkInterfaces.isAnyUp
        var error = failed(
            .unreachable, CURLE_COULDNT_RESOLVE_HOST, "Could not resolve host: \(host) (\(reason))",
            systemError: isOnline ? 0 : ENETDOWN)
        if isOnline { error.hint = CurlFailure.nameHint }
        return error
    }

    /// Returns the error after no address has accepted a connection.
    func unreachable(_ host: String, _ port: Int, _ error: Int32) -> NetworkError {
        if let refusal = CurlFailure.addressRefusal(CURLE_COULDNT_CONNECT, transfer: self) { return completed(refusal) }
        let target = plan.owner.configuration.unixSocket ?? "\(host) port \(port)"
        let reason = error == 0 ? "no address of an allowed family" : Self.text(of: error)
        return failed(
            .unreachable, CURLE_COULDNT_CONNECT, "Failed to connect to \(target): \(reason)", systemError: error)
    }

    /// Returns the error for a local address or interface from which the transport cannot connect.
    func unbound(_ error: Int32) -> NetworkError {
        var error = failed(
            .configuration, CURLE_INTERFACE_FAILED, "No socket can use the local address: \(Self.text(of: error))",
            systemError: error)
        error.hint = CurlFailure.localAddressHint
        return error
    }

    /// Returns the error for a connection that ended before its response.
    func lost(hasLeft: Bool, error: Int32) -> NetworkError {
        let cause = error == 0 ? "closed" : "failed (\(Self.text(of: error)))"
        let moment =
            received.hasHead
            ? "before the response body was complete"
            : direct.firstByte > 0 ? "before the response head was complete" : "before a response arrived"
        return failed(
            .connectionLost(hasLeft ? .requestMayHaveArrived : .requestNotSent),
            received.hasHead ? CURLE_PARTIAL_FILE : direct.firstByte > 0 ? CURLE_RECV_ERROR : CURLE_GOT_NOTHING,
            "The connection \(cause) \(moment).", systemError: error)
    }

    /// Returns the error for a response that cannot be parsed.
    func failure(_ error: HTTP1ResponseError) -> NetworkError {
        // Larger than a limit of the client, but maybe valid.
        if error == .headTooLarge || error == .tooManyFields { return completed(headLimitFailure) }
        var failure = failed(
            .badResponse, CURLE_WEIRD_SERVER_REPLY, "The response is invalid: \(error).", systemError: 0)
        if error == .badStatusLine { failure.hint = CurlFailure.protocolHint }
        return failure
    }

    private func failed(
        _ reason: NetworkError.Reason, _ code: CURLcode, _ message: String, systemError: Int32
    ) -> NetworkError {
        completed(
            NetworkError(
                reason, detail: message,
                underlying: NetworkError.TransportFailure(
                    engine: "HTTP/1.1", code: Int(code.rawValue), message: message, systemError: systemError)))
    }

    /// Returns the error with the request and, if there is one, the response head.
    func completed(_ error: NetworkError) -> NetworkError { CurlFailure.completed(error, self) }

    private static func text(of error: Int32) -> String {
        strerror(error).map { String(cString: $0) } ?? "error \(error)"
    }
}
#endif
