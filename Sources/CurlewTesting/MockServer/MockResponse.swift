// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewFoundation
public import CurlewHTTP
import CurlewStreams

/// A response that a ``MockServer`` sends, optionally with faults.
///
///     .json(user)
///     .text("slow").delayed(by: .milliseconds(50), at: .body)
///     .generated(bytes: 1_000_000).reset(at: .afterBytes(1000))
///
/// The server sends the response unchanged, and adds only the fields that frame the content or close the connection. If
/// a field cannot be written, or contradicts the content, the server sends a 500 that describes the problem instead.
public struct MockResponse: Sendable {
    /// The status; 200 by default.
    public var status: HTTPStatus
    /// The reason phrase; `nil` for the registered phrase of the status.
    public var reason: String?
    /// The header fields. The server derives Content-Length and Transfer-Encoding from the body.
    public var headers: HTTPHeaders
    /// The source of the content.
    public var body: Body
    /// The trailer fields. A response with trailers sends its content in chunks.
    public var trailers: HTTPHeaders = [:]
    /// The 1xx heads that are sent before the final head, in order.
    public var informational: [Informational] = []
    /// Whether the connection stays open for reuse, by default `true`. With `false`, the server announces in the
    /// Connection field that it closes the connection, and closes it after the response.
    public var keepAlive = true

    var faults = Faults()
    /// The script that writes the content, in place of `body`.
    package var eventScript: MockEventScript?
    /// The script of a WebSocket connection, in place of a response.
    package var socketScript: MockSocketScript?

    /// Creates a response without faults.
    public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: Body = .data(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The source of a response's content. Responses to HEAD requests and responses with status 204 or 304 consist of
    /// the head only.
    public enum Body: Sendable {
        /// These bytes, with a Content-Length field.
        case data(Data)
        /// These pieces, each sent as a separate chunk.
        case chunks([Data])
        /// A file, read while the response is sent. If it is missing or not a regular file, the server sends a 500.
        case file(path: String)
        /// This number of bytes of ``MockResponse/pattern(_:)``, generated while they are sent. With `chunked`, they
        /// are sent in chunks of 16 KiB, otherwise with a Content-Length field.
        case generated(bytes: Int, chunked: Bool = false)
    }

    /// A 1xx response head.
    public struct Informational: Sendable {
        /// The status, from 100 to 199. With any other one, the server sends a 500 instead of the response.
        public var status: HTTPStatus
        /// The header fields.
        public var headers: HTTPHeaders

        /// Creates a head with this status and these fields, such as 103 with Link.
        public init(_ status: HTTPStatus, headers: HTTPHeaders = [:]) {
            self.status = status
            self.headers = headers
        }
    }

    /// Returns the bytes at these offsets of a generated body. Each byte is its offset modulo 251.
    public static func pattern(_ range: Range<Int>) -> Data {
        Data(MockContent.pattern(range))
    }
}

extension MockResponse: CustomStringConvertible {
    /// The status, such as "200 OK", and the configured faults.
    public var description: String {
        ([status.description] + faults.descriptions).joined(separator: ", ")
    }
}

extension MockResponse {
    /// Returns a response whose body is the values as JSON Lines with sorted keys, each record as a separate chunk. If
    /// a value cannot be encoded, returns a 500 that describes the error.
    public static func jsonLines<Values: Sequence>(_ values: Values) -> MockResponse
    where Values.Element: Encodable {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let codec = Codecs(encoder: encoder).jsonCodec
        do {
            let pieces = try values.map { try RecordText.line($0, using: codec) }
            return MockResponse(headers: [.contentType: MediaType.jsonLines.description], body: .chunks(pieces))
        } catch {
            return .problem(.internalServerError, "the mock's value cannot be encoded: \(error)")
        }
    }

    /// Malformed or unusual framing of the content (RFC 9112 §6), in place of the framing that the server would choose.
    public enum Framing: Hashable, Sendable {
        /// One Content-Length line for each string. The lines may be wrong, contradictory, or not numbers. The content
        /// is sent unchanged.
        case contentLength([String])
        /// A Transfer-Encoding line with this value. The content is sent unchanged.
        case transferEncoding(String)
        /// Valid chunks, with these Content-Length lines in addition to Transfer-Encoding.
        case chunked(contentLength: [String])
        /// Chunks whose size lines are all this text, such as "xyz".
        case chunkSize(String)
        /// Chunks without the final empty chunk.
        case unendedChunks
        /// Neither Content-Length nor Transfer-Encoding: the end of the connection ends the content. This framing is
        /// valid.
        case untilClose
    }

    /// Returns a copy with this framing. The server closes the connection after the response, although the head does
    /// not announce this.
    public func framed(as framing: Framing) -> MockResponse {
        changed { $0.faults.framing = framing }
    }
}

extension MockResponse.Framing {
    var lines: [String] {
        switch self {
        case .contentLength(let values): values.map { "Content-Length: \($0)" }
        case .transferEncoding(let value): ["Transfer-Encoding: \(value)"]
        case .chunked(let lengths): lengths.map { "Content-Length: \($0)" } + ["Transfer-Encoding: chunked"]
        case .chunkSize, .unendedChunks: ["Transfer-Encoding: chunked"]
        case .untilClose: []
        }
    }

    var isChunked: Bool {
        switch self {
        case .chunked, .chunkSize, .unendedChunks: true
        case .contentLength, .transferEncoding, .untilClose: false
        }
    }

    /// The size line of every chunk if it is malformed; `nil` if the size lines are correct.
    var chunkLine: String? {
        if case .chunkSize(let text) = self { text } else { nil }
    }

    var hasLastChunk: Bool { isChunked && self != .unendedChunks }
}
