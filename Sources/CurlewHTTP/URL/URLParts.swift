// SPDX-License-Identifier: MIT

/// The reason why a string is not a URL that can be requested.
///
/// The message continues a sentence that begins with the URL. It contains no part of the URL, which may be a secret.
package struct URLProblem: Error, Hashable, Sendable {
    /// The problem and its solution: "has no host; write scheme://host/path".
    package let message: String
    /// Whether the string is a URL with a scheme other than http and https.
    package let isForeignScheme: Bool

    package init(_ message: String, isForeignScheme: Bool = false) {
        self.message = message
        self.isForeignScheme = isForeignScheme
    }

    fileprivate static let foreignScheme = URLProblem(
        "has a scheme other than http and https; use one of these", isForeignScheme: true)
}

/// An absolute http or https URL, parsed and validated once.
///
/// Follows RFC 3986, and browsers where the RFC does not apply: a space, a byte outside ASCII or another character that
/// is not allowed in a path or query is percent-encoded. "%" is unchanged, so that encoded text is not encoded twice.
/// Control characters, spaces at either end, a backslash before the query, and invalid hosts and ports are rejected.
/// Dot segments are kept.
package struct URLParts: Hashable, CustomStringConvertible, Sendable {
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
        guard scheme == "http" || scheme == "https" else { throw URLProblem.foreignScheme }
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

    /// The URL without its user information.
    package var description: String { origin.description + target }
}

extension URLParts {
    /// Resolves a URL reference against the URL with this `origin` and `target`, and removes the fragment. Throws the
    /// reason if the result is not a valid http or https URL.
    ///
    /// Follows RFC 3986 §5.2, and for invalid references the behaviour of browsers (WHATWG URL §4.4):
    ///
    /// - White space around the reference, and all tabs and line breaks, are removed.
    /// - A backslash before the query counts as a slash.
    /// - Two or more slashes begin an authority. After a scheme that differs from the scheme of `origin`, an authority
    ///   follows any number of slashes, even none.
    /// - `http:path` is relative to a base with the same scheme.
    /// - `%2E` counts as a dot in dot segments.
    package init(resolving reference: String, against origin: Origin, target: String) throws(URLProblem) {
        var bytes = Array(reference.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D })
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        bytes.removeFirst(bytes.prefix { $0 <= 0x20 }.count)
        if let fragment = bytes.firstIndex(of: 0x23) { bytes.removeSubrange(fragment...) }

        let mark = bytes.firstIndex(of: 0x3F) ?? bytes.endIndex
        let query = bytes[mark...]
        var remainder = bytes[..<mark].map { $0 == 0x5C ? 0x2F : $0 }[...]
        var scheme = origin.scheme
        if let written = Self.scheme(of: remainder) {
            guard written == "http" || written == "https" else { throw URLProblem.foreignScheme }
            remainder = remainder.dropFirst(written.utf8.count + 1)
            if written != scheme, !remainder.starts(with: Self.slashes) { remainder = Self.slashes + remainder }
            scheme = written
        }

        var text = Array("\(scheme)://".utf8)
        if remainder.starts(with: Self.slashes) {
            remainder = remainder.drop { $0 == 0x2F }
            let path = remainder.firstIndex(of: 0x2F) ?? remainder.endIndex
            text += remainder[..<path] + Self.withoutDots(remainder[path...]) + query
        } else {
            let own = Array(target.utf8)
            let path = own.prefix { $0 != 0x3F }
            text += origin.authority.utf8
            if remainder.first == 0x2F {
                text += Self.withoutDots(remainder) + query
            } else if !remainder.isEmpty {
                let folder = path[..<((path.lastIndex(of: 0x2F) ?? -1) + 1)]
                text += Self.withoutDots(folder + remainder) + query
            } else {
                text += path + (query.isEmpty ? own[path.endIndex...] : query)
            }
        }
        try self.init(String(decoding: text, as: UTF8.self))
    }

    private static let slashes: [UInt8] = [0x2F, 0x2F]

    /// Returns the scheme in lower case; nil if the reference does not begin with a scheme.
    private static func scheme(of bytes: ArraySlice<UInt8>) -> String? {
        guard let colon = bytes.firstIndex(of: 0x3A) else { return nil }
        let scheme = ASCII.lowercased(String(decoding: bytes[..<colon], as: UTF8.self))
        return HostSyntax.isScheme(scheme) ? scheme : nil
    }

    /// Returns the path without dot segments (RFC 3986 §5.2.4). The path must begin with a slash or be empty.
    private static func withoutDots(_ path: ArraySlice<UInt8>) -> [UInt8] {
        guard !path.isEmpty else { return [] }
        let segments = path.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
        var kept: [ArraySlice<UInt8>] = []
        for (position, segment) in segments.enumerated() {
            let dots = dotCount(segment)
            if dots == 0 {
                kept.append(segment)
                continue
            }
            if dots == 2 { _ = kept.popLast() }
            // A dot segment at the end refers to a folder, whose path ends with a slash.
            if position == segments.count - 1 { kept.append([]) }
        }
        return [0x2F] + kept.joined(separator: [0x2F])
    }

    /// Returns the number of dots in a dot segment, encoded or not: 1 for ".", 2 for "..", and 0 for any other segment.
    private static func dotCount(_ segment: ArraySlice<UInt8>) -> Int {
        guard (1...6).contains(segment.count) else { return 0 }
        let plain = PercentCoding.decodeLeniently(Array(segment))
        return plain == [0x2E] ? 1 : plain == [0x2E, 0x2E] ? 2 : 0
    }
}
