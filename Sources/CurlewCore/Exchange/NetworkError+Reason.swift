// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension NetworkError {
    /// Why a call failed. Later versions may add cases: a `switch` over it needs `default`.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The task or the handle was cancelled. Not a failure to show to anyone.
        case cancelled
        /// The request could not be built or must not be sent; no byte left.
        case invalidRequest
        /// The client or its transport is set up in a way that cannot work.
        case configuration
        /// The request body could not be produced.
        case encoding
        /// No connection came about: the name has no address, the port refuses, the network is away.
        case unreachable
        /// The proxy in between let no connection come about; the server got nothing.
        case proxyFailed(ProxyFailure)
        /// The connection could not be made secure. Never retried.
        case secureConnectionFailed(TLSFailure)
        /// A phase took longer than its timeout.
        case timedOut(Phase)
        /// The connection broke before the answer was complete.
        case connectionLost(Delivery)
        /// The answer breaks the protocol, or is empty where a value is due.
        case badResponse
        /// A bound of `Limits` was reached.
        case limitExceeded(Limit)
        /// The server answered with a status that is not a success.
        case status(HTTPStatus)
        /// The answer came but is not the value that was asked for.
        case decoding
        /// There is no valid credential for the call.
        case notAuthenticated(AuthFailure)
        /// A policy of the client declined to send.
        case refused(by: Policy)
        /// A file or store could not be read or written.
        case storage
        /// An interceptor, hook or endpoint threw an error of its own: see `underlying`.
        case interceptor
    }

    /// What was wrong with the secure connection.
    @nonexhaustive
    public enum TLSFailure: Hashable, Sendable {
        /// The certificate's time is over.
        case expired
        /// The certificate's time has not begun.
        case notYetValid
        /// The certificate is self-signed or its issuer is not trusted.
        case untrusted
        /// The certificate belongs to another host.
        case wrongHost
        /// The server has no pinned key: see `PinSet`.
        case pinMismatch
        /// The server asks for a client certificate or refused the one it got.
        case clientCertificate
        /// Client and server found no common version or cipher, or the handshake broke off.
        case handshake
    }

    /// What the proxy did.
    @nonexhaustive
    public enum ProxyFailure: Hashable, Sendable {
        /// The proxy itself could not be reached.
        case unreachable
        /// The proxy wants credentials, or others than it got (407).
        case notAuthenticated
        /// The proxy answered and did not connect; with the status, if it was an HTTP proxy.
        case refused(HTTPStatus?)
    }

    /// The phase that took too long.
    @nonexhaustive
    public enum Phase: Hashable, Sendable {
        /// Waiting in a queue of this client until the deadline: for a slot of `.concurrencyLimit`, a token of `.rateLimit`,
        /// or a connection of the transport. Nothing was sent.
        case queue
        /// Name lookup, TCP and TLS.
        case connect
        /// Waiting for the response head.
        case firstByte
        /// No byte moved for too long.
        case idle
        /// One attempt, up to the head of its response.
        case attempt
        /// The whole call.
        case total
    }

    /// Whether the request may have reached the server.
    public enum Delivery: Hashable, Sendable {
        /// The server cannot have acted on it: sending again is safe.
        case requestNotSent
        /// The server may have acted on it: only idempotent work may be sent again.
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

    /// Why there is no credential.
    @nonexhaustive
    public enum AuthFailure: Hashable, Sendable {
        /// The call demands a credential and none was attached: nobody has signed in, or none has the name asked for.
        case missingCredential
        /// The credential source threw.
        case sourceFailed
        /// The account was signed out while the call was under way.
        case signedOut
        /// The server does not renew the tokens any more; the account has been signed out.
        case refreshRefused
        /// The server keeps refusing tokens that it has just issued.
        case tooManyRefreshes
        /// The person or the server declined the sign-in.
        case refused
    }

    /// The policy that declined.
    @nonexhaustive
    public enum Policy: Hashable, Sendable {
        /// A mock without an answer for this request.
        case mock
        /// Too many exchanges wait for the same host already.
        case overload
        /// `.circuitBreaker()`: the origin failed too often of late. `retryAfter` says when it is tried again.
        case circuitBreaker
        /// `.rateLimit(_:every:)`: no token comes before the deadline, or too many wait for one.
        case rateLimit
        /// `.concurrencyLimit(_:)`: too many calls wait for a slot, or it came when the call had less time left than a typical
        /// one takes. A deadline in the queue is `.timedOut(.queue)`.
        case concurrencyLimit
        /// The transport has been shut down.
        case shutdown
        /// `RedirectPolicy`: the redirect leads where the call must not go, or asks for what cannot be sent again.
        case redirects
        /// `TransportConfiguration.addressPolicy`: the host has no address to which the transport may connect.
        case addressPolicy
        /// `.httpsOnly()`: the request would leave over plain http.
        case httpsOnly
        /// `APIClient.preview`: the place of the transport, where a preview ends.
        case preview
    }
}

extension NetworkError.Reason {
    /// It is about the certificate of the server.
    package var isAboutCertificate: Bool {
        switch self {
        case .secureConnectionFailed(.clientCertificate), .secureConnectionFailed(.handshake): false
        case .secureConnectionFailed: true
        default: false
        }
    }
}

/// What an engine said when it failed, as it said it.
public struct TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The engine: `libcurl 7.88.1`, `URLSession`.
    public let engine: String
    /// The engine's own code.
    public let code: Int
    /// The engine's own words.
    public let message: String
    /// The operating system's error number, zero if there was none.
    public let systemError: Int32

    /// A failure of an engine.
    public init(engine: String, code: Int, message: String, systemError: Int32 = 0) {
        self.engine = engine
        self.code = code
        self.message = message
        self.systemError = systemError
    }

    /// The name of the host has no address: CURLE_COULDNT_RESOLVE_HOST, NSURLErrorCannotFindHost and
    /// NSURLErrorDNSLookupFailed.
    package var isFailedLookup: Bool { [6, -1003, -1006].contains(code) }

    /// Engine, code and words on one line.
    public var description: String {
        "\(engine) error \(code): \(message)" + (systemError == 0 ? "" : " (errno \(systemError))")
    }
}
