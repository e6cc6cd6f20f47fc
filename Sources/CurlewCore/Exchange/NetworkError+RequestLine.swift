// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension NetworkError {
    /// The method and the redacted URL of a request, as errors and logs show them.
    public struct RequestLine: Hashable, Sendable, CustomStringConvertible {
        /// The method of the request.
        public let method: HTTPMethod
        /// The absolute URL, without userinfo and with its secrets replaced.
        public let url: String
        /// The declared secrets, which messages about the request must also redact.
        let secrets: DeclaredSecrets

        /// Creates the redacted line of `request`.
        public init(_ request: HTTPRequest) {
            method = request.method
            secrets = request.secrets
            url = secrets.redaction.url(request.urlString)
        }

        /// The method, a space and the URL.
        public var description: String {
            "\(method) \(url)".printable
        }
    }
}

extension String {
    /// Returns the first `limit` bytes of UTF-8, without a partial scalar. An ellipsis replaces text that was cut off.
    ///
    /// The limit is in bytes, because one `Character` may have megabytes of combining marks.
    package func clipped(to limit: Int) -> String {
        let limit = Swift.max(0, limit)
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        // The continuation bytes of a scalar are 10xxxxxx.
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end] + "…"
    }

    /// The text with control characters, line separators and bidirectional formatting characters escaped. Text from a
    /// server or a user then cannot begin a new line in a log, move the cursor of a terminal, or imitate other text.
    /// Tabs are kept.
    package var printable: String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0x09: false
            case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
            case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
            default: false
            }
        }
        guard unicodeScalars.contains(where: isControl) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            text += isControl(scalar) ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }
}
