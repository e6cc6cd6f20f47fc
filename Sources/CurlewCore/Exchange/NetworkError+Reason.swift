// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension NetworkError {
    /// The reason why a call failed. Later versions may add cases, so a `switch` over a reason needs a `default`.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The task or the handle was cancelled. Do not show this to the user as a failure.
        case cancelled
        /// The request could not be built or must not be sent, so nothing was sent; or a response body was read twice.
        case invalidRequest
        /// The configuration of the client or its transport is invalid, or does not support the call.
        case configuration
        /// A request body, its trailers or a WebSocket message could not be encoded or produced.
        case encoding
        /// No connection could be established: the name does not resolve, the port is closed, or there is no network.
        case unreachable
        /// The proxy could not be reached, or did not connect to the server. The server received nothing.
        case proxyFailed(ProxyFailure)
        /// A secure connection could not be established. Never retried.
        case secureConnectionFailed(TLSFailure)
        /// A phase took longer than its timeout.
        case timedOut(Phase)
        /// The connection broke before the response was complete.
        case connectionLost(Delivery)
        /// The response violates the protocol, has an unexpected media type, or is empty where a value is required.
        case badResponse
        /// The response exceeded a limit of `Limits`.
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

    /// The reason why a secure connection could not be established.
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
        /// None of the server's public keys is pinned: see `TransportConfiguration.TLS.PinSet`.
        case pinMismatch
        /// The server requires a client certificate, or rejected the one that was sent.
        case clientCertificate
        /// Client and server have no common version or cipher, or the handshake failed.
        case handshake
    }

    /// The reason why a connection through a proxy failed.
    @nonexhaustive
    public enum ProxyFailure: Hashable, Sendable {
        /// The proxy itself could not be reached.
        case unreachable
        /// The proxy requires credentials, or rejected those that were sent (407).
        case notAuthenticated
        /// The proxy refused to connect to the server. The status is the one with which an HTTP proxy responded, if
        /// any.
        case refused(HTTPStatus?)
    }

    /// The phase of a call that took longer than its timeout.
    @nonexhaustive
    public enum Phase: Hashable, Sendable {
        /// Waiting in a queue of this client until the deadline: for a permit of `.concurrencyLimit`, a token of
        /// `.rateLimit`, or a connection of the transport. Nothing was sent.
        case queue
        /// Connecting: name lookup, TCP and TLS.
        case connect
        /// Waiting for the response head.
        case firstByte
        /// Waiting for the next byte of a transfer that had begun, in either direction.
        case idle
        /// One attempt, up to the head of its response.
        case attempt
        /// The complete call, with all attempts, waits and redirects.
        case total
    }

    /// Whether the request may have reached the server.
    public enum Delivery: Hashable, Sendable {
        /// The server cannot have acted on the request. Sending it again is safe.
        case requestNotSent
        /// The server may have acted on the request. Only idempotent requests may be sent again.
        case requestMayHaveArrived
    }

    /// The limit that the response exceeded.
    @nonexhaustive
    public enum Limit: Hashable, Sendable {
        /// The response body exceeded `Limits.responseBody`, `Limits.download`, `Limits.decodedRatio` or a limit of its
        /// reader, such as that of `lines`.
        case responseBody
        /// The response head exceeded `Limits.headerBytes` or `Limits.headerCount`.
        case responseHeaders
        /// The number of redirects exceeded `Limits.redirects`.
        case redirects
    }

    /// The reason why a call has no valid credential.
    @nonexhaustive
    public enum AuthFailure: Hashable, Sendable {
        /// The call requires a credential and none was attached: the user is not signed in, or no credential has the
        /// requested name.
        case missingCredential
        /// The source of the credential threw an error, or its token cannot be sent.
        case sourceFailed
        /// The account was signed out, or signed in again, while the call was under way.
        case signedOut
        /// The server no longer refreshes the tokens. The account has been signed out.
        case refreshRefused
        /// The tokens could not be refreshed, and are kept. `underlying` contains the error of the refresh, for example
        /// with the status of its response.
        case refreshFailed
        /// The server repeatedly rejected tokens that it had just issued.
        case tooManyRefreshes
        /// The user or the server declined the sign-in, or the server offered only authentication that is too weak.
        case refused
    }
}

extension NetworkError.Reason {
    /// Whether the failure concerns the certificate of the server.
    package var isAboutCertificate: Bool {
        switch self {
        case .secureConnectionFailed(.clientCertificate), .secureConnectionFailed(.handshake): false
        case .secureConnectionFailed: true
        default: false
        }
    }
}

extension NetworkError {
    /// The original error of a transport, with its code and message.
    public struct TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The name and, if known, the version of the library: `libcurl 7.88.1`, `URLSession`.
        public let engine: String
        /// The error code of that library, such as a `CURLcode` or a `URLError` code.
        public let code: Int
        /// The error message of that library.
        public let message: String
        /// The error number of the operating system (`errno`); zero if there was none.
        public let systemError: Int32

        /// Creates a transport's error, for custom transports and mocks.
        public init(engine: String, code: Int, message: String, systemError: Int32 = 0) {
            self.engine = engine
            self.code = code
            self.message = message
            self.systemError = systemError
        }

        /// The library and the codes.
        var source: String { "\(engine) error \(code)" + (systemError == 0 ? "" : ", errno \(systemError)") }

        /// The library, the codes and the message on one line.
        public var description: String { "\(source): \(message)" }
    }

    /// The policy that refused to send a request. Capabilities define their policies, and an app can define its own.
    public struct Policy: Sendable, CustomStringConvertible {
        /// The name of the policy, for metrics and comparisons, such as `circuitBreaker`.
        public let name: String
        let message: String
        /// Whether the same call may succeed later.
        let mayPass: Bool
        /// Whether caches treat a refusal by this policy like a failure of the server.
        package var isOfServer = false

        /// Creates a policy. Policies with the same name are equal.
        ///
        /// - `message`: one sentence for the user.
        /// - `mayPass`: whether the same call may succeed later (`NetworkError.isRetryable`). Default false.
        public init(_ name: String, message: String = "The request was not sent.", mayPass: Bool = false) {
            self.name = name
            self.message = message
            self.mayPass = mayPass
        }

        /// The name of the policy.
        public var description: String { name }
    }
}

extension NetworkError.Policy: ComparedByKey {
    /// The name: the names of the built-in policies are reserved for them.
    var comparisonKey: String { name }
}

extension NetworkError.Policy {
    /// Too many exchanges already wait for a connection to the origin (`TransportConfiguration.Pool.waitingPerHost`).
    public static let overload = {
        var policy = NetworkError.Policy("overload", message: "There were too many requests.", mayPass: true)
        policy.isOfServer = true
        return policy
    }()
    /// The client is draining, or the transport has been shut down.
    public static let shutdown = NetworkError.Policy("shutdown")
    /// The host has no address to which `TransportConfiguration.addressPolicy` allows a connection.
    public static let addressPolicy = NetworkError.Policy("addressPolicy")
    /// The request reached the end of an `APIClient.preview`, which sends nothing.
    public static let preview = NetworkError.Policy("preview")
    /// A mock has no response for the request.
    public static let mock = NetworkError.Policy("mock")
}
