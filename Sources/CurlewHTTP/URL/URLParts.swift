// SPDX-License-Identifier: MIT

/// The reason why a string is not a URL that can be requested.
///
/// The message continues a sentence that begins with the URL. It contains no part of the URL, which may be a secret.
package struct URLProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem and its solution: "has no host; write scheme://host/path".
    package let message: String
    /// Whether the string is a URL with a scheme other than http and https.
    package let isForeignScheme: Bool

    package init(_ message: String) {
        self.message = message
        isForeignScheme = false
    }

    private init(foreign message: String) {
        self.message = message
        isForeignScheme = true
    }

    static let foreignScheme = URLProblem(foreign: "has a scheme other than http and https; use one of these")

    package var description: String { "the URL \(message)" }
}

/// An absolute http or https URL, parsed and validated once.
///
/// Follows RFC 3986, and browsers where the RFC does not apply: a space, a byte outside ASCII or another character that
/// is not allowed in a path or query is percent-encoded. "%" is unchanged, so that encoded text is not encoded twice.
/// Control characters, spaces at either end, a backslash before the query, and invalid hosts and ports are rejected.
/// Dot segments are kept.
package struct URLParts: Hashable, Sendable {
    package let origin: Origin
    /// The user name and the password before "@", percent-encoded; nil if there is no "@". A secret.
    package let userinfo: String?
    /// The path and the query, as in the request line; "/" if there is no path. The fragment is removed.
    package let target: String

    package init(_ string: String) throws(URLProblem) {
        let bytes = string.utf8
        guard !bytes.contains(where: ASCII.isControl) else {
            throw URLProblem("has a control character, such as a line break; remove it")
        }
        guard bytes.first != 0x20, bytes.last != 0x20 else { throw URLProblem("has a space around it; remove it") }
        let (scheme, start) = try Self.scheme(bytes)
        let end = bytes[start...].firstIndex { Self.ends.contains($0) } ?? bytes.endIndex
        let (userinfo, hostport) = try Self.splitUserinfo(bytes[start..<end])
        self.userinfo = userinfo
        self.origin = try Self.origin(scheme, hostport)
        self.target = try Self.target(bytes[end...])
    }

    private static func scheme(_ bytes: String.UTF8View) throws(URLProblem) -> (String, String.Index) {
        guard let colon = bytes.firstIndex(of: 0x3A) else { throw noScheme }
        let scheme = ASCII.lowercased(String(Substring(bytes[..<colon])))
        guard HostSyntax.isScheme(scheme) else { throw noScheme }
        guard bytes[colon...].dropFirst().starts(with: "//".utf8) else {
            throw scheme.utf8.contains(0x2E) || scheme == "localhost"
                ? noScheme : URLProblem("has no // after its scheme; write scheme://host/path")
        }
        guard scheme == "http" || scheme == "https" else {
            throw URLProblem.foreignScheme
        }
        return (scheme, bytes.index(colon, offsetBy: 3))
    }

    private static func splitUserinfo(
        _ authority: Substring.UTF8View
    ) throws(URLProblem) -> (String?, Substring.UTF8View) {
        guard let at = authority.firstIndex(of: 0x40) else { return (nil, authority) }
        let userinfo = authority[..<at]
        guard !userinfo.contains(0x5C) else { throw backslash }
        return (PercentCoding.encode(String(Substring(userinfo)), keeping: userinfoBytes), authority[at...].dropFirst())
    }

    private static func origin(_ scheme: String, _ hostport: Substring.UTF8View) throws(URLProblem) -> Origin {
        var host = hostport
        var port = Origin.defaultPort(of: scheme)
        let afterAddress = hostport.first == 0x5B ? hostport.firstIndex(of: 0x5D) : nil
        if let colon = hostport[(afterAddress ?? hostport.startIndex)...].firstIndex(of: 0x3A) {
            host = hostport[..<colon]
            let digits = hostport[colon...].dropFirst()
            // "host:" means the default port (RFC 3986 §3.2.3).
            if !digits.isEmpty { port = digits.count <= 5 ? ASCII.decimal(digits) : nil }
        }
        let name = ASCII.lowercased(String(Substring(host)))
        if let problem = HostSyntax.problem(of: name) { throw URLProblem(problem) }
        guard let port, (1...65_535).contains(port) else {
            throw URLProblem("has a port that is not a number from 1 to 65535; correct it")
        }
        return Origin(scheme: scheme, host: name, port: port)
    }

    private static func target(_ remainder: Substring.UTF8View) throws(URLProblem) -> String {
        let kept = remainder.prefix { $0 != 0x23 }
        let path = kept.prefix { $0 != 0x3F }
        guard !path.contains(0x5C) else { throw backslash }
        let query = kept[path.endIndex...]
        let encodedPath = PercentCoding.encode(String(Substring(path)), keeping: pathBytes)
        let encodedQuery = PercentCoding.encode(String(Substring(query)), keeping: queryBytes)
        return (encodedPath.isEmpty ? "/" : encodedPath) + encodedQuery
    }

    private static let ends = ByteSet("/?#")
    private static let userinfoBytes = PercentCoding.Component.userinfo.allowed.union(":%")
    private static let pathBytes = PercentCoding.Component.path.allowed.union("%")
    private static let queryBytes = PercentCoding.Component.fragment.allowed.union("%")
    private static let noScheme = URLProblem("has no scheme; start it with https://")
    private static let backslash = URLProblem("has a backslash; write / in a path and %5C elsewhere")
}

extension URLParts: CustomStringConvertible {
    /// The URL without its user information.
    package var description: String { origin.description + target }
}
