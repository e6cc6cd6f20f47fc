// SPDX-License-Identifier: MIT

/// One `Set-Cookie` value taken apart by the algorithm of RFC 6265bis §5.6, which reads whatever servers write.
///
/// Nothing is decoded: what is sent back is what came. Whether the cookie may be stored is another question.
package struct SetCookie: Hashable, Sendable {
    /// Empty for a cookie without a name.
    package let name: String
    package let value: String
    /// In lower case, without a dot before it; `nil` if there is none or it is empty.
    package private(set) var domain: String?
    /// `nil` if there is none or it does not begin with a slash.
    package private(set) var path: String?
    package private(set) var expires: HTTPDate?
    /// Seconds; zero for a number that is not positive.
    package private(set) var maxAge: Int64?
    package private(set) var isSecure = false
    package private(set) var isHTTPOnly = false
    /// In lower case, whatever was written.
    package private(set) var sameSite: String?

    /// Why a line is no cookie.
    package enum Problem: Error, Hashable, Sendable {
        case controlCharacter
        case empty
        case tooLong
    }

    /// Reads a line. Name and value together have at most `maximum` bytes, an attribute has at most `maximumAttribute`,
    /// or is passed over.
    package init(_ line: String, maximum: Int = 4096, maximumAttribute: Int = 1024) throws(Problem) {
        let bytes = line.utf8
        // A control character would forge a header field when it is sent back; the tab alone cannot.
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

    /// The last attribute of a name counts; of dates and ages, the last that can be read.
    private mutating func read(_ name: String, _ value: String) {
        switch name {
        case "expires":
            if let date = HTTPDate(cookieDate: value) { expires = date }
        case "max-age":
            if let age = Self.age(value) { maxAge = age }
        case "domain":
            // By bytes: a dot with a combining mark behind it is a dot all the same.
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
        FieldRules.trimmed(String(Substring(bytes)))
    }
}

extension SetCookie: CustomStringConvertible, CustomReflectable {
    /// The name, and never the value.
    package var description: String { "SetCookie(\(name))" }

    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
