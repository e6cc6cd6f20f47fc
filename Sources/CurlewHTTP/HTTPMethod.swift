// SPDX-License-Identifier: MIT

/// A request method: any token, kept exactly as written.
///
/// Methods are case-sensitive (RFC 9110 §9.1), so `HTTPMethod(rawValue: "get")` is not `.get`. The initialiser never
/// fails; a method that is not a token is refused when the request is built, see ``isValid``.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The method as it goes on the wire.
    public let rawValue: String

    /// A method of any name, kept verbatim.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Whether the request asks for no change on the server (RFC 9110 §9.2.1).
    ///
    /// GET, HEAD, OPTIONS and TRACE; QUERY by RFC 10008. A method that is not known is not safe.
    public var isSafe: Bool {
        switch rawValue {
        case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
        default: false
        }
    }

    /// Whether sending the request twice intends the same as sending it once (RFC 9110 §9.2.2).
    ///
    /// Every safe method, PUT and DELETE. A method that is not known is not idempotent.
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
    /// As GET, without the content.
    public static var head: HTTPMethod { HTTPMethod(rawValue: "HEAD") }
    /// Process the content as the resource sees fit.
    public static var post: HTTPMethod { HTTPMethod(rawValue: "POST") }
    /// Replace the resource with the content.
    public static var put: HTTPMethod { HTTPMethod(rawValue: "PUT") }
    /// Change the resource as the content says (RFC 5789).
    public static var patch: HTTPMethod { HTTPMethod(rawValue: "PATCH") }
    /// Remove the resource.
    public static var delete: HTTPMethod { HTTPMethod(rawValue: "DELETE") }
    /// Describe what the resource can do.
    public static var options: HTTPMethod { HTTPMethod(rawValue: "OPTIONS") }
    /// Echo the request along the path to the resource.
    public static var trace: HTTPMethod { HTTPMethod(rawValue: "TRACE") }
    /// Open a tunnel.
    public static var connect: HTTPMethod { HTTPMethod(rawValue: "CONNECT") }
    /// A safe, idempotent request with content (RFC 10008).
    public static var query: HTTPMethod { HTTPMethod(rawValue: "QUERY") }
}

extension HTTPMethod: ExpressibleByStringLiteral {
    /// A method written as a literal.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}

extension HTTPMethod: CustomStringConvertible {
    /// The method as it goes on the wire.
    public var description: String { rawValue }
}
