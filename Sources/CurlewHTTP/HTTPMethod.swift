// SPDX-License-Identifier: MIT

/// A request method: any token, kept exactly as written.
///
/// Methods are case-sensitive (RFC 9110 §9.1), so `HTTPMethod(rawValue: "get")` is not `.get`. The initialiser never
/// fails. A method that is not a token is rejected when the request is built, see ``isValid``.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The method as sent on the wire.
    public let rawValue: String

    /// Creates a method with any name, kept verbatim.
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

    /// Whether the name is a token (RFC 9110 §5.6.2) and may be sent.
    public var isValid: Bool {
        ASCII.isToken(rawValue)
    }
}

extension HTTPMethod {
    /// Transfer the resource's current representation.
    public static var get: HTTPMethod { HTTPMethod(rawValue: "GET") }
    /// Same as GET, without the content of the response.
    public static var head: HTTPMethod { HTTPMethod(rawValue: "HEAD") }
    /// Process the content according to the resource's own semantics.
    public static var post: HTTPMethod { HTTPMethod(rawValue: "POST") }
    /// Replace the resource with the content.
    public static var put: HTTPMethod { HTTPMethod(rawValue: "PUT") }
    /// Modify the resource as the content describes (RFC 5789).
    public static var patch: HTTPMethod { HTTPMethod(rawValue: "PATCH") }
    /// Remove the resource.
    public static var delete: HTTPMethod { HTTPMethod(rawValue: "DELETE") }
    /// Describe the communication options of the resource.
    public static var options: HTTPMethod { HTTPMethod(rawValue: "OPTIONS") }
    /// Echo the request along the path to the resource.
    public static var trace: HTTPMethod { HTTPMethod(rawValue: "TRACE") }
    /// Open a tunnel.
    public static var connect: HTTPMethod { HTTPMethod(rawValue: "CONNECT") }
    /// A safe, idempotent request with content (RFC 10008).
    public static var query: HTTPMethod { HTTPMethod(rawValue: "QUERY") }
}

extension HTTPMethod: ExpressibleByStringLiteral {
    /// Creates a method from a string literal.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}

extension HTTPMethod: CustomStringConvertible {
    /// The method as sent on the wire.
    public var description: String { rawValue }
}
