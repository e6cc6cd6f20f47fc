// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// The redacted text for the developer, with all information that helps to find the cause.
extension NetworkError: MirroredByDescription {
    /// Several lines: the reason, the request, the detail, the response with an excerpt, the server's certificates, the
    /// attempts, notes, the underlying error, and advice. Secrets are redacted.
    public var description: String {
        let secrets = secrets
        func shown(_ text: String) -> String { secrets.redaction.text(text).printable }

        var lines = ["NetworkError: \(label)"]
        if let request {
            lines.append("  request   \(request)" + (routeName.map { "  (\($0.printable))" } ?? ""))
        } else if let routeName {
            lines.append("  call      " + (unsentMethod.map { "\($0) " } ?? "") + routeName.printable)
        }
        if !detail.isEmpty { lines.append("  detail    \(shown(detail))") }
        if let response {
            lines.append(
                "  response  \(response.statusText(without: secrets))"
                    + (response.mediaType.map { ", \($0.essence.printable)" } ?? ""))
            if let excerpt = response.excerpt(without: secrets) { lines.append("  body      \(excerpt)") }
        }
        for certificate in certificates.prefix(ExchangeMetrics.Connection.PeerCertificate.maximumCount) {
            lines.append("  server    \(certificate)")
        }
        // A single attempt without a decision or notes would only repeat the lines above.
        let isRedundant =
            attempts.count == 1 && attempts[0].decision == .finish(because: .final) && attempts[0].notes.isEmpty
        for attempt in isRedundant ? [] : attempts { lines.append("  attempt   \(shown("\(attempt)"))") }
        for note in notes { lines.append("  note      \(shown(note))") }
        if let underlying, !(underlying is DecodingError), !(underlying is EncodingError), reason != .interceptor {
            // The lines of a nested `NetworkError` or report are kept and indented further than those of this one. Any
            // other text becomes one line.
            let isReport = underlying is any LineReport
            let failure = underlying as? TransportFailure
            let isKnown = failure.map { detail.begins(with: $0.message) } ?? false
            let text = (isKnown ? failure?.source : nil) ?? "\(underlying)".clipped(to: isReport ? 16_000 : 1000)
            let isOurs = isReport || underlying is NetworkError
            let parts = isOurs ? text.parts("\n").map(String.init) : [text]
            // The detail of an error without words of its own is the text of its cause.
            if !detail.ends(with: text) {
                lines.append("  cause     " + parts.map(shown).joined(separator: "\n            "))
            }
        }
        if let advice { lines.append("  next      \(shown(advice))") }
        return lines.joined(separator: "\n")
    }

    /// A short name for metrics, with few different values: `status 503`, `timedOut firstByte`.
    public var label: String { reason.description }

    private var advice: String? {
        if let hint { return hint }
        switch reason {
        case .decoding: return decodingAdvice
        case .timedOut(.queue):
            return
                "Start fewer concurrent calls, give urgent calls a higher RequestOptions.priority, or raise the limit."
        case .timedOut(.connect): return "Is the host right and reachable? Timeouts.connect sets the limit."
        case .timedOut(.firstByte):
            return "The server accepted the request and did not respond; see Timeouts.firstByte."
        case .timedOut(.idle): return "The transfer stalled; see Timeouts.idle."
        case .timedOut(.attempt): return "See .attemptTimeout(_:) and Timeouts.attempt."
        case .timedOut(.total): return "See Timeouts.total, and the attempts for what took the time."
        case .unreachable: return "Check host and port, and that the server is running."
        case .proxyFailed(.unreachable): return "Check TransportConfiguration.proxy, and that the proxy is running."
        case .proxyFailed(.notAuthenticated): return "Set the proxy's credentials in TransportConfiguration.proxy."
        case .secureConnectionFailed(.untrusted):
            let ownRoots = "For a private authority, add its certificate to TransportConfiguration.TLS.trustedRoots."
            // Browsers fetch or cache a missing intermediate certificate, so the operator of the server may not notice.
            guard certificates.count == 1, certificates[0].issuer != certificates[0].subject else { return ownRoots }
            return
                "The server sent no certificate of its issuer. If it is an intermediate authority, the server must "
                + "send it. \(ownRoots)"
        case .secureConnectionFailed(.wrongHost):
            return "Check the host of the URL: the server's certificate is for other names."
        case .secureConnectionFailed(.expired), .secureConnectionFailed(.notYetValid):
            return "Check the clock of this machine. If it is right, the server needs another certificate."
        case .connectionLost(.requestMayHaveArrived):
            guard let method = request?.method, method.isSafe else {
                return
                    "The server may have processed the request. Check its state before you send it again, or send an "
                    + "Idempotency-Key."
            }
            return "The request changes nothing on the server, so it can be sent again."
                + (response == nil ? " If that fails too, check scheme and port." : "")

        case .status(.tooManyRequests):
            let wait = retryAfter.map { "Wait \($0.brief) before the next call. " } ?? ""
            return "\(wait)To send fewer calls than the server allows, add .rateLimit(_:every:)."
        case .status(let status) where status.isRedirection:
            return "The redirect was not followed: see .redirects(_:), options.redirects and the Location field."
        default: return nil
        }
    }

    private var decodingAdvice: String? {
        guard let error = underlying as? DecodingError else { return nil }
        let location = error.location
        if let missing = location.missing, let response {
            let snake = missing.snakeCased
            if snake != missing, response.body.contains(quoted: snake) {
                return "The body has \"\(snake)\". Use Codecs.snakeCase, or coding keys."
            }
            if location.path.isEmpty, response.body.contains(quoted: missing) {
                return "The body has \"\(missing)\" inside another member: see unwrapping(_:), or describe that member."
            }
        }
        if case .typeMismatch(let type, let context) = error {
            if type == Double.self, context.debugDescription.contains("string") {
                return "The member is a text. If it is a date, use Codecs.iso8601 or Codecs.snakeCase."
            }
            if location.path.isEmpty, context.debugDescription.contains("found an array") {
                return "The body is a list: make the response type an array."
            }
        }
        let body = response?.body.isEmpty != false ? "response" : "body above"
        return "Compare the model with the \(body), or make the member optional."
    }
}

extension NetworkError.Reason: CustomStringConvertible {
    /// The reason in a few words: `status 503`, `timedOut firstByte`. `NetworkError.label` is the same text.
    public var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .invalidRequest: "invalidRequest"
        case .configuration: "configuration"
        case .encoding: "encoding"
        case .unreachable: "unreachable"
        case .proxyFailed(.refused(let status)): "proxyFailed refused" + (status.map { " \($0.code)" } ?? "")
        case .proxyFailed(let failure): "proxyFailed \(failure)"
        case .secureConnectionFailed(let failure): "secureConnectionFailed \(failure)"
        case .timedOut(let phase): "timedOut \(phase)"
        case .connectionLost(let delivery): "connectionLost \(delivery)"
        case .badResponse: "badResponse"
        case .limitExceeded(let limit): "limitExceeded \(limit)"
        case .status(let status): "status \(status.code)"
        case .decoding: "decoding"
        case .notAuthenticated(let failure): "notAuthenticated \(failure)"
        case .refused(let policy): "refused \(policy)"
        case .storage: "storage"
        case .interceptor: "interceptor"
        }
    }
}

/// An error whose description consists of lines that the description of a `NetworkError` keeps.
package protocol LineReport: Error {}

extension String {
    /// The name in snake case: `createdAt` becomes `created_at`.
    var snakeCased: String {
        reduce(into: "") { text, character in
            if character.isUppercase, !text.isEmpty { text += "_" }
            text += character.lowercased()
        }
    }
}

extension Data {
    /// Returns whether the bytes contain `name` in double quotes.
    func contains(quoted name: String) -> Bool {
        firstRange(of: Data("\"\(name)\"".utf8)) != nil
    }
}

/// Messages for the user. They contain no URL, no type name and no text from the server.
extension NetworkError: LocalizedError {
    /// One English sentence that describes what happened.
    public var message: String {
        switch reason {
        case .cancelled: "The request was cancelled."
        case .invalidRequest: "The request could not be made."
        case .configuration: "The app is not set up correctly for this request."
        case .encoding: "The data could not be prepared for sending."
        case .unreachable: isOffline ? "There seems to be no network connection." : "The server could not be reached."
        case .proxyFailed: "The network's proxy did not let the request through."
        case .secureConnectionFailed(.expired), .secureConnectionFailed(.notYetValid):
            "The server's certificate is not valid at this time."
        case .secureConnectionFailed: "A secure connection to the server could not be made."
        case .timedOut(.queue): "There were too many requests at the same time."
        case .timedOut: "The server took too long to respond."
        case .connectionLost: "The connection was lost."
        case .badResponse: "The server's response could not be understood."
        case .limitExceeded(.redirects): "The server redirected the request without a result."
        case .limitExceeded: "The server's response was too large."
        case .status(let status): Self.message(forStatus: status.code)
        case .decoding: "The server's response was not as expected."
        case .notAuthenticated(.refreshFailed): "Your sign-in could not be renewed."
        case .notAuthenticated: "You are not signed in."
        case .refused(let policy): policy.message
        case .storage: "A file could not be read or written."
        case .interceptor: "Something went wrong."
        }
    }

    private static func message(forStatus code: Int) -> String {
        switch code {
        case 401: "You are not signed in."
        case 403: "You do not have permission to do this."
        case 404, 410: "This was not found."
        case 409, 412: "This has been changed since."
        case 413: "This is too large for the server."
        case 408, 504: "The server took too long to respond."
        case 429: "There were too many requests."
        case 400...499: "The server did not accept the request."
        case 503: "The service is not available right now."
        case 500...599: "The server had a problem."
        default: "The server sent an unexpected response."
        }
    }

    private static func suggestion(toWait wait: Duration) -> String {
        let seconds = wait.components.seconds
        return switch seconds {
        case ...1: "Try again in a second."
        case ...120: "Try again in \(seconds) seconds."
        default: "Try again in \((seconds + 59) / 60) minutes."
        }
    }

    /// The same as `message`. Foundation uses it for `localizedDescription`.
    public var errorDescription: String? { message }

    /// English advice for the user, such as `Sign in and try again.`; nil if there is none.
    public var recoverySuggestion: String? {
        switch reason {
        case .unreachable, .connectionLost: "Check the network connection and try again."
        case .timedOut, .notAuthenticated(.refreshFailed): "Try again in a moment."
        case .secureConnectionFailed(.expired), .secureConnectionFailed(.notYetValid):
            "Check that the date and time of this device are right."
        case .secureConnectionFailed: "Do not enter personal data. Try again on another network."
        case .notAuthenticated, .status(.unauthorized): "Sign in and try again."
        case .status(.tooManyRequests): retryAfter.map(Self.suggestion(toWait:)) ?? "Try again in a moment."
        case .refused(let policy) where policy.mayPass:
            retryAfter.map(Self.suggestion(toWait:)) ?? "Try again in a moment."
        case .status(let status) where status.isServerError: "Try again later."
        default: nil
        }
    }
}
