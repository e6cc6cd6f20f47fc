// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension NetworkError {
    /// The reason why a call failed. Later versions may add cases: a `switch` over it needs `default`.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The task or the handle was cancelled. Do not show this to the user as a failure.
        case cancelled
        /// The request could not be built or must not be sent. No byte was sent.
        case invalidRequest
        /// The client or its transport has an invalid configuration.
        case configuration
        /// The request body could not be produced.
        case encoding
        /// No connection could be established: the name does not resolve, the port is closed, or there is no network.
        case unreachable
        /// The proxy could not connect. The server received nothing.
        case proxyFailed(ProxyFailure)
        /// A secure connection could not be established. Never retried.
        case secureConnectionFailed(TLSFailure)
        /// A phase took longer than its timeout.
        case timedOut(Phase)
        /// The connection broke before the response was complete.
        case connectionLost(Delivery)
        /// The response violates the protocol, or is empty where a value is required.
        case badResponse
        /// A bound of `Limits` was reached.
        case limitExceeded(Limit)
        /// The server responded with a status that is not a success.
        case status(HTTPStatus)
        /// The response arrived and could not be decoded as the requested value.
        case decoding
        /// There is no valid credential for the call.
        case notAuthenticated(AuthFailure)
        /// A policy of the client refused to send the request.
        case refused(by: Policy)
        /// A file or store could not be read or written.
        case storage
        /// An interceptor, hook or endpoint threw its own error: see `underlying`.
        case interceptor
    }

    /// The problem with the secure connection.
    @nonexhaustive
    public enum TLSFailure: Hashable, Sendable {
        /// The certificate has expired.
        case expired
        /// The certificate is not valid yet.
        case notYetValid
        /// The certificate is self-signed or its issuer is not trusted.
        case untrusted
        /// The certificate belongs to another host.
        case wrongHost
        /// No key of the server is pinned: see `TLSConfiguration.PinSet`.
        case pinMismatch
        /// The server requires a client certificate, or rejected the one that was sent.
        case clientCertificate
        /// Client and server have no common version or cipher, or the handshake failed.
        case handshake
    }

    /// The failure of the proxy.
    @nonexhaustive
    public enum ProxyFailure: Hashable, Sendable {
        /// The proxy itself could not be reached.
        case unreachable
        /// The proxy requires credentials, or rejected those that were sent (407).
        case notAuthenticated
        /// The proxy responded without connecting. The status is that of an HTTP proxy.
        case refused(HTTPStatus?)
    }

    /// The phase that took too long.
    @nonexhaustive
    public enum Phase: Hashable, Sendable {
        /// Waiting in a queue of this client until the deadline: for a permit of `.concurrencyLimit`, a token of
        /// `.rateLimit`, or a connection of the transport. Nothing was sent.
        case queue
        /// Name lookup, TCP and TLS.
        case connect
        /// Waiting for the response head.
        case firstByte
        /// No byte was transferred for too long.
        case idle
        /// One attempt, up to the head of its response.
        case attempt
        /// The whole call.
        case total
    }

    /// Whether the request may have reached the server.
    public enum Delivery: Hashable, Sendable {
        /// The server cannot have acted on the request. Sending it again is safe.
        case requestNotSent
        /// The server may have acted on the request. Only idempotent requests may be sent again.
        case requestMayHaveArrived
    }

    /// The bound that was reached.
    @nonexhaustive
    public enum Limit: Hashable, Sendable {
        /// `Limits.responseBody` or `Limits.decodedRatio`.
        case responseBody
        /// `Limits.headerBytes` or `Limits.headerCount`.
        case responseHeaders
        /// `Limits.redirects`.
        case redirects
    }

    /// The reason why there is no credential.
    @nonexhaustive
    public enum AuthFailure: Hashable, Sendable {
        /// The call requires a credential and none was attached: the user is not signed in, or no credential has the
        /// requested name.
        case missingCredential
        /// The credential source threw.
        case sourceFailed
        /// The account was signed out while the call was under way.
        case signedOut
        /// The server no longer refreshes the tokens. The account has been signed out.
        case refreshRefused
        /// The server repeatedly rejected tokens that it had just issued.
        case tooManyRefreshes
        /// The user or the server declined the sign-in.
        case refused
    }
}

extension NetworkError.Reason {
    /// True if the failure concerns the certificate of the server.
    package var isAboutCertificate: Bool {
        switch self {
        case .secureConnectionFailed(.clientCertificate), .secureConnectionFailed(.handshake): false
        case .secureConnectionFailed: true
        default: false
        }
    }
}

extension NetworkError {
    /// The failure of a transport, in its own terms.
    public struct TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The transport and its version: `libcurl 7.88.1`, `URLSession`.
        public let engine: String
        /// The transport's own error code.
        public let code: Int
        /// The transport's own message.
        public let message: String
        /// The operating system's error number; zero if there was none.
        public let systemError: Int32

        /// Creates the failure of a transport.
        public init(engine: String, code: Int, message: String, systemError: Int32 = 0) {
            self.engine = engine
            self.code = code
            self.message = message
            self.systemError = systemError
        }

        /// True if the host name did not resolve: CURLE_COULDNT_RESOLVE_HOST, NSURLErrorCannotFindHost and
        /// NSURLErrorDNSLookupFailed.
        package var isFailedLookup: Bool { [6, -1003, -1006].contains(code) }

        /// The transport, code and message on one line.
        public var description: String {
            "\(engine) error \(code): \(message)" + (systemError == 0 ? "" : " (errno \(systemError))")
        }
    }
}
