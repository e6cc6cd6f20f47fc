// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

extension NetworkError {
    static func mapped(_ error: any Error) -> NetworkError {
        switch error {
        case let error as NetworkError:
            return error
        case is CancellationError:
            return NetworkError(.cancelled)
        // As `NSError`, in which code in Objective-C receives and returns it.
        case _ where error._domain == "Swift.CancellationError":
            return NetworkError(.cancelled)
        case is DeadlinePassed:
            return NetworkError(.timedOut(.total))
        case let error as DecodingError:
            return NetworkError(.decoding, detail: quoted(error.explanation, upTo: 1000), underlying: error)
        case let error as EncodingError:
            return NetworkError(.encoding, detail: quoted(error.explanation, upTo: 1000), underlying: error)
        default:
            let reason = SystemErrorCode(error).reason ?? .interceptor
            let text = reason == .storage ? "A file could not be used: \(error)" : "\(error)"
            return NetworkError(reason, detail: quoted(text), underlying: error)
        }
    }

    /// Returns text from another component on one line, redacted and truncated to `limit` bytes.
    package static func quoted(
        _ text: String, upTo limit: Int = 500, without secrets: DeclaredSecrets = .none
    ) -> String {
        secrets.redaction.text(text.clipped(to: limit * 4)).clipped(to: limit).printable
    }

    /// Returns the error with the request and the route of its call, unless it already has them.
    package func naming(_ request: @autoclosure () -> RequestLine, route: String = "") -> NetworkError {
        var failure = self
        if failure.request == nil { failure.request = request() }
        if failure.routeName == nil, !route.isEmpty { failure.routeName = route }
        return failure
    }

    /// Returns the error with the declared secrets of a client and its interceptors, which also apply if the error has
    /// no request. `detail` and `hint` are redacted immediately, `description` when it is formatted.
    package func withholding(_ secrets: DeclaredSecrets) -> NetworkError {
        var failure = self
        if !secrets.isEmpty { failure.secrets = secrets }
        if !detail.isEmpty { failure.detail = secrets.redaction.text(detail) }
        if let hint { failure.hint = secrets.redaction.text(hint) }
        return failure
    }
}

extension DecodingError {
    /// One or two sentences: the position in the document, what was expected there, and the message of the decoder.
    var explanation: String {
        switch self {
        case .typeMismatch(let type, let context):
            "Expected \(type) at \(context.codingPath.path). \(context.debugDescription)"
        case .valueNotFound(let type, let context):
            "Expected \(type) at \(context.codingPath.path), found null. \(context.debugDescription)"
        case .keyNotFound(let key, let context):
            "No member \"\(key.stringValue)\" at \(context.codingPath.path)."
        case .dataCorrupted(let context):
            "Unexpected document at \(context.codingPath.path). \(context.debugDescription)"
        @unknown default:
            "\(self)"
        }
    }

    /// The coding path of the error, and the missing key if there is one.
    var location: (path: [any CodingKey], missing: String?) {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            (context.codingPath, nil)
        case .keyNotFound(let key, let context):
            (context.codingPath, key.stringValue)
        @unknown default:
            ([], nil)
        }
    }
}

extension EncodingError {
    var explanation: String {
        switch self {
        case .invalidValue(_, let context):
            "A value at \(context.codingPath.path) cannot be encoded. \(context.debugDescription)"
        @unknown default:
            "The value cannot be encoded."
        }
    }
}

extension [any CodingKey] {
    /// The path in the style of JSONPath: `$.items[3].owner`.
    var path: String {
        reduce(into: "$") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
        }
    }
}
