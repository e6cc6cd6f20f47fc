// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The one error that calls throw: why it failed, what was asked, what was answered, and what to do next.
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
/// Two readers, two texts: `message`, `errorDescription` and `recoverySuggestion` are for the person at the screen and
/// hold no URL, type name or server text; `description` is for the developer and holds all of it, redacted.
public struct NetworkError: Error, Sendable {
    /// The fields behind one reference, replaced whole: an error crosses many frames, so it is one word wide.
    private var box: Box

    /// An error of one's own, for interceptors, mocks and transports.
    public init(
        _ reason: Reason, detail: String = "", hint: String? = nil, request: RequestLine? = nil,
        response: Answer? = nil, underlying: (any Error)? = nil
    ) {
        box = Box(
            Fields(
                reason: reason, detail: detail, hint: hint, request: request, response: response,
                underlying: underlying))
    }

    /// The error that a typed call throws for this status and body.
    public init(statusCode: Int, headers: HTTPHeaders = [:], body: Data = Data()) {
        let answer = Answer(status: HTTPStatus(statusCode), headers: headers, body: body)
        self.init(.status(answer.status), response: answer)
    }

    /// The error for a response that other code has read: its status is the reason, whatever it is.
    ///
    /// - `body`: what has been read of the body; empty by default. The response's own is left alone.
    public init(_ response: HTTPResponse, body: Data = Data()) {
        let answer = Answer(
            status: response.status, headers: response.headers, body: body, reasonPhrase: response.reasonPhrase)
        self.init(.status(answer.status), response: answer)
    }

    /// Any error as a `NetworkError`, with the original as `underlying`:
    ///
    /// - one that is it already stays as it is, and a `CancellationError` is `.cancelled`
    /// - `URLError`, `POSIXError`, `CocoaError` and an `NSError` of their domains get the reason that their code stands for:
    ///   `URLError(.notConnectedToInternet)` is `.unreachable` and `isOffline`, on every system
    /// - errors of encoders and decoders are `.encoding` and `.decoding`
    /// - everything else is `.interceptor`
    public init(_ error: any Error) {
        self = Self.mapped(error)
    }

    /// Why the call failed.
    public var reason: Reason {
        get { box.fields.reason }
        set { update { $0.reason = newValue } }
    }

    /// One sentence for the developer. May name hosts and files, never secrets.
    public var detail: String {
        get { box.fields.detail }
        set { update { $0.detail = newValue } }
    }

    /// What the developer can do about it, if there is something to say.
    public var hint: String? {
        get { box.fields.hint }
        set { update { $0.hint = newValue } }
    }

    /// What was asked; nil when the request could not even be built.
    public var request: RequestLine? {
        get { box.fields.request }
        set { update { $0.request = newValue } }
    }

    /// The endpoint's name; nil when the call had none.
    public var routeName: String? {
        get { box.fields.routeName }
        set { update { $0.routeName = newValue } }
    }

    /// The method of a call of which no request could be made.
    package var unsentMethod: HTTPMethod? {
        get { box.fields.unsentMethod }
        set { update { $0.unsentMethod = newValue } }
    }

    /// What was answered, if an answer came.
    public var response: Answer? {
        get { box.fields.response }
        set { update { $0.response = newValue } }
    }

    /// What the server presented, its own certificate first, when `.secureConnectionFailed` is about its certificate:
    /// expired, not yet valid, for another host, not trusted, not pinned. At most ten.
    ///
    /// Empty for other reasons, when no certificate came, and with engines that do not tell: libcurl without OpenSSL, and
    /// URLSession on Linux.
    public var certificates: [PeerCertificate] {
        get { box.fields.certificates }
        set { update { $0.certificates = newValue } }
    }

    /// What happened on each try, oldest first, and why it was the last. Complete in a pipeline with `.retry()`; empty
    /// when nothing was tried.
    public var attempts: [Attempt] {
        get { box.fields.attempts }
        set { update { $0.attempts = newValue } }
    }

    /// The error that caused this one: a `TransportFailure`, a `DecodingError`, an app's own.
    public var underlying: (any Error)? {
        get { box.fields.underlying }
        set { update { $0.underlying = newValue } }
    }

    /// What else happened on the way of the try that failed, until it is in `attempts`.
    package var notes: [String] {
        get { box.fields.notes }
        set { update { $0.notes = newValue } }
    }

    /// What texts about it do not show, beyond what Curlew knows: those of the request, or of the client without one.
    package var secrets: DeclaredSecrets {
        get { box.fields.secrets.isEmpty ? request?.secrets ?? .none : box.fields.secrets }
        set { update { $0.secrets = newValue } }
    }

    /// What the policy that refused expects; `retryAfter` shows it.
    package var expectedWait: Duration? {
        get { box.fields.expectedWait }
        set { update { $0.expectedWait = newValue } }
    }

    /// How the call reads bodies; `body(as:)` uses them.
    package var codecs: Codecs? {
        get { box.fields.codecs }
        set { update { $0.codecs = newValue } }
    }

    private mutating func update(_ change: (inout Fields) -> Void) {
        var fields = box.fields
        change(&fields)
        box = Box(fields)
    }

    private struct Fields: Sendable {
        var reason: Reason
        var detail: String
        var hint: String?
        var request: RequestLine?
        var routeName: String?
        var unsentMethod: HTTPMethod?
        var response: Answer?
        var certificates: [PeerCertificate] = []
        var attempts: [Attempt] = []
        var notes: [String] = []
        var underlying: (any Error)?
        var expectedWait: Duration?
        var codecs: Codecs?
        var secrets = DeclaredSecrets.none
    }

    private final class Box: Sendable {
        let fields: Fields

        init(_ fields: Fields) {
            self.fields = fields
        }
    }
}
