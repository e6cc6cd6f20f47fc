// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The error that calls throw: the reason, the request, the response, and advice for the developer.
///
///     NetworkError
///     ├─ reason        one of a short list, for switching
///     ├─ detail        one sentence for the developer
///     ├─ hint          what to do about it
///     ├─ request       method and URL, secrets out
///     ├─ response      status, headers and the beginning of the body
///     ├─ certificates  what the server presented, if its certificate is refused
///     ├─ attempts      what happened on each try
///     └─ underlying    the system's or the app's own error
///
/// `message`, `errorDescription` and `recoverySuggestion` are for the user and contain no URL, type name or server
/// text. `description` is for the developer and contains all of it, redacted.
public struct NetworkError: Error, Sendable {
    /// The fields, behind one immutable reference. The error is thrown through many frames, so its size is one machine
    /// word.
    private var box: Boxed<Fields>

    /// Creates an error, for interceptors, mocks and transports.
    public init(
        _ reason: Reason, detail: String = "", hint: String? = nil, request: RequestLine? = nil,
        response: Response? = nil, underlying: (any Error)? = nil
    ) {
        box = Boxed(
            Fields(
                reason: reason, detail: detail, hint: hint, request: request, response: response,
                underlying: underlying))
    }

    /// Creates the error that a typed call throws for this status and body.
    public init(statusCode: Int, headers: HTTPHeaders = [:], body: Data = Data()) {
        let answer = Response(status: HTTPStatus(statusCode), headers: headers, body: body)
        self.init(.status(answer.status), response: answer)
    }

    /// Creates the error for a response that other code has read. The status is the reason, whatever it is.
    ///
    /// - `body`: the part of the body that has been read; empty by default. The initializer does not read the
    ///   response's own body.
    public init(_ response: HTTPResponse, body: Data = Data()) {
        let answer = Response(
            status: response.status, headers: response.headers, body: body, reasonPhrase: response.reasonPhrase)
        self.init(.status(answer.status), response: answer)
    }

    /// Converts any error to a `NetworkError`, with the original as `underlying`:
    ///
    /// - a `NetworkError` is unchanged, and a `CancellationError` becomes `.cancelled`
    /// - `URLError`, `POSIXError`, `CocoaError` and an `NSError` of their domains map to the reason for their code:
    ///   `URLError(.notConnectedToInternet)` is `.unreachable` and `isOffline`, on every system
    /// - errors of encoders and decoders become `.encoding` and `.decoding`
    /// - everything else becomes `.interceptor`
    public init(_ error: any Error) {
        self = Self.mapped(error)
    }

    /// The reason why the call failed.
    public var reason: Reason {
        get { box.value.reason }
        set { update { $0.reason = newValue } }
    }

    /// One sentence for the developer. It may contain hosts and file names, never secrets.
    public var detail: String {
        get { box.value.detail }
        set { update { $0.detail = newValue } }
    }

    /// What the developer can do about the error, if anything.
    public var hint: String? {
        get { box.value.hint }
        set { update { $0.hint = newValue } }
    }

    /// The method and URL of the request; nil when the request could not be built.
    public var request: RequestLine? {
        get { box.value.request }
        set { update { $0.request = newValue } }
    }

    /// The endpoint's name; nil when the call had none.
    public var routeName: String? {
        get { box.value.routeName }
        set { update { $0.routeName = newValue } }
    }

    /// The method of a call whose request could not be built.
    package var unsentMethod: HTTPMethod? {
        get { box.value.unsentMethod }
        set { update { $0.unsentMethod = newValue } }
    }

    /// The response, if one arrived.
    public var response: Response? {
        get { box.value.response }
        set { update { $0.response = newValue } }
    }

    /// The certificates that the server presented, its own certificate first, when `.secureConnectionFailed` concerns
    /// its certificate: expired, not yet valid, for another host, not trusted, not pinned. At most ten.
    ///
    /// Empty for other reasons, when no certificate arrived, and with transports that do not report certificates:
    /// libcurl without OpenSSL, and URLSession on Linux.
    public var certificates: [PeerCertificate] {
        get { box.value.certificates }
        set { update { $0.certificates = newValue } }
    }

    /// The attempts of the call, oldest first, with the reason why the last one was final. Complete in a pipeline with
    /// `.retry()`. Empty when no attempt was made.
    public var attempts: [Attempt] {
        get { box.value.attempts }
        set { update { $0.attempts = newValue } }
    }

    /// The error that caused this one: a `NetworkError.TransportFailure`, a `DecodingError`, or an error of the app.
    public var underlying: (any Error)? {
        get { box.value.underlying }
        set { update { $0.underlying = newValue } }
    }

    /// Other events of the attempt that failed, until they are part of `attempts`.
    package var notes: [String] {
        get { box.value.notes }
        set { update { $0.notes = newValue } }
    }

    /// The declared secrets that descriptions redact: those of the request, or of the client without a request.
    package var secrets: DeclaredSecrets {
        get { box.value.secrets.isEmpty ? request?.secrets ?? .none : box.value.secrets }
        set { update { $0.secrets = newValue } }
    }

    /// The delay that the refusing policy expects; `retryAfter` returns it.
    package var expectedWait: Duration? {
        get { box.value.expectedWait }
        set { update { $0.expectedWait = newValue } }
    }

    /// The codecs of the call; `body(as:)` uses them.
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
        var request: RequestLine?
        var routeName: String?
        var unsentMethod: HTTPMethod?
        var response: Response?
        var certificates: [PeerCertificate] = []
        var attempts: [Attempt] = []
        var notes: [String] = []
        var underlying: (any Error)?
        var expectedWait: Duration?
        var codecs: Codecs?
        var secrets = DeclaredSecrets.none
    }
}
