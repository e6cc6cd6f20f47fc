// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// The error that calls throw: the reason, the request, the response, and advice for the developer.
///
///     NetworkError
///     ├─ reason        why the call failed, for a `switch`
///     ├─ detail        one sentence for the developer
///     ├─ hint          what the developer can do
///     ├─ request       the method and the redacted URL
///     ├─ response      the status, the fields and the first bytes of the body
///     ├─ certificates  the server's certificates, if they were rejected
///     ├─ attempts      the timing and the outcome of each attempt
///     └─ underlying    the original error of the system or the app
///
/// `message`, `errorDescription` and `recoverySuggestion` are for the user and contain no URL, type name or server
/// text. `description` is for the developer and contains all of these, redacted.
public struct NetworkError: Error, Sendable {
    /// The storage, in one immutable object. The error is thrown through many frames, so its size is one machine word.
    private var box: Boxed<Fields>

    /// Creates an error, for interceptors, mocks and transports.
    public init(
        _ reason: Reason, detail: String = "", hint: String? = nil, request: NetworkError.RequestLine? = nil,
        response: Response? = nil, underlying: (any Error)? = nil
    ) {
        box = Boxed(
            Fields(
                reason: reason, detail: detail, hint: hint, request: request, response: response,
                underlying: underlying))
    }

    /// Creates the error that a typed call throws for this status and body.
    public init(statusCode: Int, headers: HTTPHeaders = [:], body: Data = Data()) {
        let received = Response(status: HTTPStatus(statusCode), headers: headers, body: body)
        self.init(.status(received.status), response: received)
    }

    /// Creates the error for a response that other code has read. The reason is `.status`, even for a success.
    ///
    /// - `body`: the part of the body that has been read. Default empty. The initializer does not read `response.body`.
    public init(_ response: HTTPResponse, body: Data = Data()) {
        let received = Response(
            status: response.status, headers: response.headers, body: body, reasonPhrase: response.reasonPhrase)
        self.init(.status(received.status), response: received)
    }

    /// Converts any error to a `NetworkError`:
    ///
    /// - A `NetworkError` is unchanged, and a `CancellationError` becomes `.cancelled`.
    /// - A `URLError`, `POSIXError`, `CocoaError` or an `NSError` of their domains gets the reason for its code:
    ///   `URLError(.notConnectedToInternet)` is `.unreachable` and `isOffline`, on every system.
    /// - An `EncodingError` becomes `.encoding`, a `DecodingError` becomes `.decoding`.
    /// - Any other error becomes `.interceptor`.
    ///
    /// Except in the first case, the original error is `underlying`.
    public init(_ error: any Error) {
        self = Self.mapped(error)
    }

    /// The reason why the call failed.
    public var reason: Reason {
        get { box.value.reason }
        set { update { $0.reason = newValue } }
    }

    /// One sentence for the developer. It may contain hosts and file names, but no secrets.
    public var detail: String {
        get { box.value.detail }
        set { update { $0.detail = newValue } }
    }

    /// The advice for the developer; nil if there is none.
    public var hint: String? {
        get { box.value.hint }
        set { update { $0.hint = newValue } }
    }

    /// The method and the redacted URL of the request; nil if the request could not be built.
    public var request: NetworkError.RequestLine? {
        get { box.value.request }
        set { update { $0.request = newValue } }
    }

    /// The name of the route or endpoint; nil if the call had none.
    public var routeName: String? {
        get { box.value.routeName }
        set { update { $0.routeName = newValue } }
    }

    /// The method of a call whose request could not be built; nil for any other call.
    package var unsentMethod: HTTPMethod? {
        get { box.value.unsentMethod }
        set { update { $0.unsentMethod = newValue } }
    }

    /// The response; nil if none arrived.
    public var response: Response? {
        get { box.value.response }
        set { update { $0.response = newValue } }
    }

    /// The certificates that the server presented, its own certificate first, at most ten. Present if
    /// `.secureConnectionFailed` concerns the server's certificate: it is expired, not yet valid, for another host, not
    /// trusted or not pinned. Empty for other reasons, if no certificate arrived, and with transports that do not
    /// report certificates: libcurl without OpenSSL, and URLSession on Linux.
    public var certificates: [ExchangeMetrics.Connection.PeerCertificate] {
        get { box.value.certificates }
        set { update { $0.certificates = newValue } }
    }

    /// The attempts of the call, oldest first, including the reason why the last one was final. The list is complete in
    /// a pipeline with `.retry()`, and empty if no attempt was made.
    public var attempts: [NetworkError.Attempt] {
        get { box.value.attempts }
        set { update { $0.attempts = newValue } }
    }

    /// The error that caused this one, such as a `NetworkError.TransportFailure`, a `DecodingError` or an error of the
    /// app.
    public var underlying: (any Error)? {
        get { box.value.underlying }
        set { update { $0.underlying = newValue } }
    }

    /// Other events of the attempt that failed, until they are part of `attempts`.
    package var notes: [String] {
        get { box.value.notes }
        set { update { $0.notes = newValue } }
    }

    /// The declared secrets that descriptions redact: those of the client if they are set, otherwise those of the
    /// request.
    package var secrets: DeclaredSecrets {
        get { box.value.secrets.isEmpty ? request?.secrets ?? .none : box.value.secrets }
        set { update { $0.secrets = newValue } }
    }

    /// The wait that the refusing policy expects, which `retryAfter` returns; nil if the policy expects none.
    package var expectedWait: Duration? {
        get { box.value.expectedWait }
        set { update { $0.expectedWait = newValue } }
    }

    /// The codecs of the call, which `body(as:)` uses by default.
    package var codecs: Codecs? {
        get { box.value.codecs }
        set { update { $0.codecs = newValue } }
    }

    private mutating func update(_ change: (inout Fields) -> Void) {
        box = box.changed(change)
    }

    private struct Fields: Sendable {
        var reason: Reason
        var detail: String
        var hint: String?
        var request: NetworkError.RequestLine?
        var routeName: String?
        var unsentMethod: HTTPMethod?
        var response: Response?
        var certificates: [ExchangeMetrics.Connection.PeerCertificate] = []
        var attempts: [NetworkError.Attempt] = []
        var notes: [String] = []
        var underlying: (any Error)?
        var expectedWait: Duration?
        var codecs: Codecs?
        var secrets = DeclaredSecrets.none
    }
}

extension NetworkError: Hashable {
    /// Returns whether both errors have the same `reason`, which includes the status, the phase or the policy. For two
    /// `.interceptor` errors, the types and cases of the underlying errors must also be equal.
    ///
    /// The request, the times, the attempts and the messages are not compared, so a test needs only the expected
    /// reason:
    ///
    ///     #expect(model.error == NetworkError(statusCode: 503))
    public static func == (left: NetworkError, right: NetworkError) -> Bool {
        left.reason == right.reason && left.ownCause == right.ownCause
    }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(ownCause)
    }

    /// The type and case of an error from the app, as the standard library reports them; nil for other reasons.
    private var ownCause: SystemErrorCode? {
        reason == .interceptor ? underlying.map { SystemErrorCode($0) } : nil
    }
}

extension NetworkError.Reason {
    /// The value of the attribute `error.type` (OpenTelemetry) in spans, log entries and metrics: the status code, or
    /// lower-case words from a fixed set, joined by underscores, such as `timed_out_first_byte`.
    package var errorType: String {
        switch self {
        case .status(let status): "\(status.code)"
        case .proxyFailed(.refused): "proxy_refused"
        case .proxyFailed(let failure): "proxy_" + "\(failure)".snakeCased
        case .secureConnectionFailed(let failure): "tls_" + "\(failure)".snakeCased
        case .connectionLost(.requestMayHaveArrived): "connection_lost"
        case .refused: "refused"
        default: description.parts(" ").map { String($0).snakeCased }.joined(separator: "_")
        }
    }
}
