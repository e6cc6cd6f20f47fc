// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

extension NetworkError {
    /// The response that caused an error: its head, and its body up to `Limits.errorExcerpt`.
    public struct Response: Sendable {
        /// The status of the response. It can be a success status, for example if the body could not be decoded.
        public let status: HTTPStatus
        /// The header fields. Not redacted: redact them before logging.
        public let headers: HTTPHeaders
        /// The first bytes of the body, at most `Limits.errorExcerpt`. Not redacted.
        public let body: Data
        /// Whether the response had more bytes than `body` contains.
        public let isTruncated: Bool
        /// The reason phrase as the server wrote it: see `HTTPResponse.reasonPhrase`. Not redacted.
        public let reasonPhrase: String?
        /// The wall-clock time of the response; `retryAfter` is relative to it.
        public let date: Date

        /// Creates the response of an error, for mocks and tests.
        public init(
            status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data(), isTruncated: Bool = false,
            date: Date = Date(), reasonPhrase: String? = nil
        ) {
            self.status = status
            self.headers = headers
            self.body = body
            self.isTruncated = isTruncated
            self.date = date
            self.reasonPhrase = reasonPhrase
        }

        /// The media type of the body; nil if the `Content-Type` field is missing or malformed.
        public var mediaType: MediaType? {
            headers[.contentType].flatMap { MediaType($0) }
        }

        /// Returns the status, and the server's reason phrase if it differs from the registered one.
        func statusText(without secrets: DeclaredSecrets) -> String {
            guard let reasonPhrase, reasonPhrase.lowercased() != status.reasonPhrase.lowercased() else {
                return "\(status)"
            }
            return "\(status), with the reason phrase \"\(secrets.redaction.text(reasonPhrase).printable)\""
        }

        /// Returns the first part of the body as redacted text on one line, at most 400 bytes. Nil if the body is
        /// empty. For a body that is not text, or is HTML or XML, a phrase with its size.
        func excerpt(without secrets: DeclaredSecrets) -> String? {
            guard !body.isEmpty else { return nil }
            let text = HTTPResponse.text(of: body.prefix(2048), mediaType: mediaType)
            guard !text.utf8.contains(where: { $0 < 0x09 || ($0 > 0x0D && $0 < 0x20) }) else {
                return "\(body.count) bytes that are not text"
            }
            if !secrets.redaction.shows(mediaType) {
                return
                    "\(body.count) bytes of \(mediaType?.essence.printable ?? "markup"), read them with error.response?.body"
            }
            return secrets.redaction.bodyText(text.joinedLines, mediaType: mediaType).clipped(to: 400).printable
        }

        /// The first bytes of a body, which are collected chunk by chunk.
        struct Excerpt {
            private(set) var data = Data()
            private(set) var isTruncated = false
            let limit: Int

            init(limit: Int) {
                self.limit = max(0, limit)
            }

            /// Appends the part of `chunk` that fits. Returns false if the body exceeds the limit.
            mutating func append(_ chunk: Data) -> Bool {
                let room = limit - data.count
                isTruncated = isTruncated || chunk.count > room
                data = data.isEmpty && chunk.count <= room ? chunk : data + chunk.prefix(room)
                return !isTruncated
            }
        }
    }
}

extension NetworkError.Response: CustomStringConvertible, CustomReflectable {
    /// The status, the media type, and the number of bytes in `body`. Includes no other fields and no content.
    public var description: String {
        let type = mediaType.map { ", \($0.essence.printable)" } ?? ""
        return "\(status)\(type), \(body.count) bytes\(isTruncated ? " and more" : "")"
    }

    /// A mirror that shows the description and the redacted fields, so that a dump contains no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "headers": headers])
    }
}
