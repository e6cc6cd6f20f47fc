// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a ``MockServer`` answers: a response, and how it goes wrong if it should.
///
///     .json(user)
///     .text("slow").delayed(by: .milliseconds(50), at: .body)
///     .generated(bytes: 1_000_000).reset(at: .afterBytes(1000))
///
/// Written as it is: besides the fields here, only those that frame the content or close the connection are added.
/// Fields that cannot be written, or contradict the content, turn the answer into a 500 that says so.
public struct MockResponse: Sendable {
    /// The status; 200 by default.
    public var status: HTTPStatus
    /// The reason phrase; `nil` for the registry's.
    public var reason: String?
    /// The fields. Content-Length and Transfer-Encoding follow from the body.
    public var headers: HTTPHeaders
    /// The content.
    public var body: Body
    /// Fields behind the content, which is then sent in chunks.
    public var trailers: HTTPHeaders = [:]
    /// Heads before the final one, in order.
    public var informational: [Informational] = []
    /// Whether the connection is used again; `false` sends "Connection: close" and closes.
    public var keepAlive = true

    var faults = Faults()

    /// A response without faults.
    public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: Body = .data(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Where the content comes from. HEAD, 204 and 304 get the head only.
    public enum Body: Sendable {
        /// These bytes, with a Content-Length.
        case data(Data)
        /// Each piece as a chunk of its own.
        case chunks([Data])
        /// A file, read while it is sent; a missing one makes the answer a 500.
        case file(path: String)
        /// This many bytes of ``MockResponse/pattern(_:)``, made while they are sent; in chunks of 16 KiB or with a
        /// Content-Length.
        case generated(bytes: Int, chunked: Bool = false)
    }

    /// A 1xx head.
    public struct Informational: Sendable {
        /// 100–199.
        public var status: HTTPStatus
        /// Its fields.
        public var headers: HTTPHeaders

        /// A head with fields, such as 103 with Link.
        public init(_ status: HTTPStatus, headers: HTTPHeaders = [:]) {
            self.status = status
            self.headers = headers
        }
    }

    /// The bytes at these offsets of a generated body: each is its offset modulo 251.
    public static func pattern(_ range: Range<Int>) -> Data {
        Data(MockContent.pattern(range))
    }
}

extension MockResponse: CustomStringConvertible {
    /// "200 OK", with the faults that were asked for.
    public var description: String {
        ([status.description] + faults.descriptions).joined(separator: ", ")
    }
}
