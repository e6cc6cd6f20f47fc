// SPDX-License-Identifier: MIT

/// A cookie that a server sets, parsed from a `Set-Cookie` field with the tolerant algorithm of RFC 6265bis §5.6.
///
/// The value is not decoded: it is sent back as received. Whether the cookie may be stored is decided elsewhere.
package struct SetCookie: Hashable, Sendable {
    /// The name of the cookie; empty for a cookie without a name.
    package let name: String
    package let value: String
    /// The `Domain` attribute in lower case, without a leading dot; `nil` if absent or empty.
    package private(set) var domain: String?
    /// The `Path` attribute; `nil` if absent or without a leading slash.
    package private(set) var path: String?
    package private(set) var expires: HTTPDate?
    /// The `Max-Age` attribute in seconds; zero if the number is not positive, `nil` if absent or not a number.
    package private(set) var maxAge: Int64?
    package private(set) var isSecure = false
    package private(set) var isHTTPOnly = false
    /// The `SameSite` attribute in lower case; any value is kept.
    package private(set) var sameSite: String?

    /// The reason why a `Set-Cookie` value is rejected.
    package enum Problem: Error, Hashable, Sendable {
        case controlCharacter
        case empty
        case tooLong
    }

    /// Parses a `Set-Cookie` value. Throws if it contains a control character, if its name and value are both empty, or
    /// if they exceed `maximum` bytes together. An attribute whose value exceeds `maximumAttribute` bytes is ignored.
    package init(_ line: String, maximum: Int = 4096, maximumAttribute: Int = 1024) throws(Problem) {
        let bytes = line.utf8
        // A control character other than the tab could forge a header field when the cookie is sent back.
        guard !bytes.contains(where: { ASCII.isControl($0) && $0 != 0x09 }) else { throw .controlCharacter }
        let parts = bytes.split(separator: 0x3B, omittingEmptySubsequences: false)
        let pair = parts.first ?? Substring("").utf8
        let equals = pair.firstIndex(of: 0x3D)
        name = equals.map { Self.trimmed(pair[..<$0]) } ?? ""
        value = Self.trimmed(equals.map { pair[$0...].dropFirst() } ?? pair)
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        guard name.utf8.count + value.utf8.count <= maximum else { throw .tooLong }
        for part in parts.dropFirst() {
            let equals = part.firstIndex(of: 0x3D)
            let text = Self.trimmed(equals.map { part[$0...].dropFirst() } ?? Substring("").utf8)
            guard text.utf8.count <= maximumAttribute else { continue }
            read(ASCII.lowercased(Self.trimmed(part[..<(equals ?? part.endIndex)])), text)
        }
    }

    /// Stores an attribute. Of several attributes with the same name, the last is used; for `Expires` and `Max-Age`,
    /// the last that can be parsed.
    private mutating func read(_ name: String, _ value: String) {
        switch name {
        case "expires":
            if let date = HTTPDate(cookieDate: value) { expires = date }
        case "max-age":
            if let age = Self.age(value) { maxAge = age }
        case "domain":
            // Compared by bytes: a dot followed by a combining mark is still a dot.
            let name = value.utf8.first == 0x2E ? String(Substring(value.utf8.dropFirst())) : value
            domain = name.isEmpty ? nil : ASCII.lowercased(name)
        case "path": path = value.utf8.first == 0x2F ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = ASCII.lowercased(value)
        default: break
        }
    }

    private static func age(_ text: String) -> Int64? {
        let digits = text.utf8.first == 0x2D ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return digits.count < text.utf8.count ? 0 : ASCII.decimal(digits, as: Int64.self) ?? .max
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        FieldSyntax.trimmed(String(Substring(bytes)))
    }
}

extension SetCookie: MirroredByDescription {
    /// The name of the cookie. The value is omitted, because it may be a secret.
    package var description: String { "SetCookie(\(name))" }
}
