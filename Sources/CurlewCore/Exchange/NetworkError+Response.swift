// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NetworkError {
    /// The response that caused an error: its head, and its body up to `Limits.errorExcerpt`.
    public struct Response: Sendable {
        /// The status.
        public let status: HTTPStatus
        /// The header fields. Not redacted: redact them before logging.
        public let headers: HTTPHeaders
        /// The beginning of the body. Not redacted.
        public let body: Data
        /// True when the body continued beyond `body`.
        public let isTruncated: Bool
        /// The reason phrase as the server wrote it: see `HTTPResponse.reasonPhrase`. Not redacted.
        public let reasonPhrase: String?
        /// The wall-clock time of the response; `retryAfter` is relative to it.
        public let date: Date

        /// Creates a response excerpt.
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

        /// The media type of the body.
        public var mediaType: MediaType? {
            headers[.contentType].flatMap { MediaType($0) }
        }

        /// The status, with the server's reason phrase where it differs from the registered one.
        func statusText(without secrets: DeclaredSecrets) -> String {
            guard let reasonPhrase, reasonPhrase.lowercased() != status.reasonPhrase.lowercased() else {
                return "\(status)"
            }
            return "\(status), with the reason phrase \"\(secrets.redaction.text(reasonPhrase).printable)\""
        }

        /// The beginning of the body as redacted text on one line; nil when the body is empty, and a size when it is
        /// not text.
        package var excerpt: String? { excerpt(without: .none) }

        /// Returns the same text, with the declared secrets redacted too.
        func excerpt(without secrets: DeclaredSecrets) -> String? {
            guard !body.isEmpty else { return nil }
            let text = HTTPResponse.text(of: body.prefix(2048), mediaType: mediaType)
            guard !text.utf8.contains(where: { $0 < 0x09 || ($0 > 0x0D && $0 < 0x20) }) else {
                return "\(body.count) bytes that are not text"
            }
            let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return secrets.redaction.bodyText(line, mediaType: mediaType).clipped(to: 400).printable
        }

        /// Collects the beginning of a body.
        package struct Excerpt {
            package private(set) var data = Data()
            package private(set) var isTruncated = false
            let limit: Int

            package init(limit: Int) {
                self.limit = max(0, limit)
            }

            /// Appends what fits; returns false when the limit has been exceeded.
            package mutating func append(_ chunk: Data) -> Bool {
                let room = limit - data.count
                isTruncated = isTruncated || chunk.count > room
                data = data.isEmpty && chunk.count <= room ? chunk : data + chunk.prefix(room)
                return !isTruncated
            }
        }
    }
}

extension NetworkError.Response: CustomStringConvertible, CustomReflectable {
    /// The status, media type and length of the body. Includes no field values and no content of the body.
    public var description: String {
        let type = mediaType.map { ", \($0.essence.printable)" } ?? ""
        return "\(status)\(type), \(body.count) bytes\(isTruncated ? " and more" : "")"
    }

    /// Shows the description and the fields, without secrets. Debuggers and `dump` use it.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "headers": headers])
    }
}
