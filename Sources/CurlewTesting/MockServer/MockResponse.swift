// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

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
    /// Whether the content of the script is coded with gzip.
    var isGzip = false
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
        /// A file, read while it is sent. If the file is missing, the server sends a 500.
        case file(path: String)
        /// This number of bytes of ``MockResponse/pattern(_:)``, generated while they are sent. With `chunked`, they
        /// are sent in chunks of 16 KiB, otherwise with a Content-Length field.
        case generated(bytes: Int, chunked: Bool = false)
    }

    /// A 1xx response head.
    public struct Informational: Sendable {
        /// The status, from 100 to 199.
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
