// SPDX-License-Identifier: MIT

/// The method of an HTTP request, such as GET or POST (RFC 9110 §9).
///
/// Methods are case-sensitive (§9.1), so `HTTPMethod(rawValue: "get")` is not `.get`. The initializer accepts any text
/// and keeps it as written. A request whose method is not a token throws `.invalidRequest`; see ``isValid``.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The method as sent on the wire.
    public let rawValue: String

    /// Creates a method from any text, which is kept as written.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Whether the method is safe, that is, requests no change on the server (RFC 9110 §9.2.1).
    ///
    /// True for GET, HEAD, OPTIONS and TRACE, and for QUERY (RFC 10008). Unknown methods are not safe.
    public var isSafe: Bool {
        switch rawValue {
        case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
        default: false
        }
    }

    /// Whether the method is idempotent: several identical requests have the same intended effect as one (RFC 9110
    /// §9.2.2).
    ///
    /// True for safe methods, PUT and DELETE. Unknown methods are not idempotent.
    public var isIdempotent: Bool {
        isSafe || rawValue == "PUT" || rawValue == "DELETE"
    }

    /// Whether the method is a token (RFC 9110 §5.6.2). Only tokens can be sent.
    public var isValid: Bool {
        ASCII.isToken(rawValue)
    }
}

extension HTTPMethod {
    /// GET: requests the current representation of the resource (RFC 9110 §9.3.1).
    public static var get: HTTPMethod { HTTPMethod(rawValue: "GET") }
    /// HEAD: like GET, but the response has no content.
    public static var head: HTTPMethod { HTTPMethod(rawValue: "HEAD") }
    /// POST: requests that the resource process the content according to its own rules.
    public static var post: HTTPMethod { HTTPMethod(rawValue: "POST") }
    /// PUT: replaces the representation of the resource with the content.
    public static var put: HTTPMethod { HTTPMethod(rawValue: "PUT") }
    /// PATCH: modifies the resource as the content describes (RFC 5789).
    public static var patch: HTTPMethod { HTTPMethod(rawValue: "PATCH") }
    /// DELETE: removes the resource.
    public static var delete: HTTPMethod { HTTPMethod(rawValue: "DELETE") }
    /// OPTIONS: requests the communication options of the resource.
    public static var options: HTTPMethod { HTTPMethod(rawValue: "OPTIONS") }
    /// TRACE: requests that the server return the request as it was received.
    public static var trace: HTTPMethod { HTTPMethod(rawValue: "TRACE") }
    /// CONNECT: requests that a proxy open a tunnel to the target.
    public static var connect: HTTPMethod { HTTPMethod(rawValue: "CONNECT") }
    /// QUERY: a safe, idempotent request with content (RFC 10008).
    public static var query: HTTPMethod { HTTPMethod(rawValue: "QUERY") }
}

extension HTTPMethod: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a method from a string literal.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// The method as sent on the wire.
    public var description: String { rawValue }
}
