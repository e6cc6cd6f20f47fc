// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A response of a ``MockServer``, optionally with faults.
///
///     .json(user)
///     .text("slow").delayed(by: .milliseconds(50), at: .body)
///     .generated(bytes: 1_000_000).reset(at: .afterBytes(1000))
///
/// The response is written as it is: the server adds only the fields that frame the content or close the connection.
/// Fields that cannot be written, or that contradict the content, replace the response with a 500 that describes the
/// problem.
public struct MockResponse: Sendable {
    /// The status; 200 by default.
    public var status: HTTPStatus
    /// The reason phrase; `nil` for the registered one.
    public var reason: String?
    /// The header fields. Content-Length and Transfer-Encoding follow from the body.
    public var headers: HTTPHeaders
    /// The content.
    public var body: Body
    /// The trailer fields. With trailers the content is sent in chunks.
    public var trailers: HTTPHeaders = [:]
    /// The 1xx heads that are sent before the final head, in order.
    public var informational: [Informational] = []
    /// Whether the connection stays open for reuse; `false` sends "Connection: close" and closes it.
    public var keepAlive = true

    var faults = Faults()

    /// Creates a response without faults.
    public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: Body = .data(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The source of the content. Responses to HEAD, and 204 and 304, contain only the head.
    public enum Body: Sendable {
        /// These bytes, with a Content-Length.
        case data(Data)
        /// Each piece as a separate chunk.
        case chunks([Data])
        /// A file, read while it is sent; if it is missing, the response is a 500.
        case file(path: String)
        /// This many bytes of ``MockResponse/pattern(_:)``, generated while they are sent, in chunks of 16 KiB or with
        /// a Content-Length.
        case generated(bytes: Int, chunked: Bool = false)
    }

    /// A 1xx response head.
    public struct Informational: Sendable {
        /// The status, 100–199.
        public var status: HTTPStatus
        /// The header fields.
        public var headers: HTTPHeaders

        /// Creates a head with fields, such as 103 with Link.
        public init(_ status: HTTPStatus, headers: HTTPHeaders = [:]) {
            self.status = status
            self.headers = headers
        }
    }

    /// Returns the bytes at these offsets of a generated body: each is its offset modulo 251.
    public static func pattern(_ range: Range<Int>) -> Data {
        Data(MockContent.pattern(range))
    }
}

extension MockResponse: CustomStringConvertible {
    /// "200 OK", followed by the configured faults.
    public var description: String {
        ([status.description] + faults.descriptions).joined(separator: ", ")
    }
}
