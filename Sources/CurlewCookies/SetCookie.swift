// SPDX-License-Identifier: MIT

import CurlewHTTP

/// A cookie that a server sets, parsed from a `Set-Cookie` field with the tolerant algorithm of RFC 6265bis §5.6.
///
/// The value is not decoded: it is sent back as received. Whether the cookie may be stored is decided elsewhere.
struct SetCookie: Hashable, Sendable {
    /// The name of the cookie; empty for a cookie without a name.
    let name: String
    let value: String
    /// The `Domain` attribute in lower case, without a leading dot; `nil` if absent or empty.
    private(set) var domain: String?
    /// The `Path` attribute; `nil` if absent or without a leading slash.
    private(set) var path: String?
    private(set) var expires: HTTPDate?
    /// The `Max-Age` attribute in seconds; zero if the number is not positive, `nil` if absent or not a number.
    private(set) var maxAge: Int64?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    /// The `SameSite` attribute in lower case; any value is kept.
    private(set) var sameSite: String?

    /// Parses a `Set-Cookie` value. Throws if it contains a control character, if its name and value are both empty, or
    /// if they exceed `maximum` bytes together. An attribute whose value exceeds `maximumAttribute` bytes is ignored.
    init(_ line: String, maximum: Int = 4096, maximumAttribute: Int = 1024) throws(Cookie.Refusal) {
        let bytes = line.utf8
        // A control character other than the tab could forge a header field when the cookie is sent back.
        guard !bytes.contains(where: { ASCII.isControl($0) && $0 != 0x09 }) else { throw .controlCharacter }
        let parts = line.parts(";", keepingEmpty: true).map(\.utf8)
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
        return digits.count < text.utf8.count ? 0 : ASCII.decimal(Substring(digits)) ?? .max
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        String(Substring(bytes).trimmed())
    }
}

extension SetCookie: MirroredByDescription {
    /// The name of the cookie. The value is omitted, because it may be a secret.
    var description: String { "SetCookie(\(name))" }
}

extension HTTPDate {
    /// Parses the `Expires` attribute of a cookie with the algorithm of RFC 6265 §5.1.1, which accepts the parts of a
    /// date in any order and with any separators. Returns `nil` if the algorithm fails.
    ///
    /// Only the first 1,024 bytes are read.
    init?(cookieDate text: String) {
        var reader = CookieDateReader()
        for token in text.utf8.prefix(1024).split(whereSeparator: CookieDateReader.isDelimiter) { reader.take(token) }
        guard let date = reader.date else { return nil }
        self = date
    }
}

/// Collects the parts of a date from tokens. The first token that matches a part is used; all other tokens, such as the
/// weekday, are ignored.
private struct CookieDateReader {
    private var clock: (hour: Int, minute: Int, second: Int)?
    private var day: Int?
    private var month: Int?
    private var year: Int?

    static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    mutating func take(_ token: Substring.UTF8View) {
        if clock == nil, let found = Self.clock(token) {
            clock = found
        } else if day == nil, let found = Self.number(token, digits: 1...2) {
            day = found
        } else if month == nil, let found = Self.month(token) {
            month = found
        } else if year == nil, let found = Self.number(token, digits: 2...4) {
            year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
        }
    }

    var date: HTTPDate? {
        guard let clock, let day, let month, let year, year >= 1601, clock.second <= 59 else { return nil }
        return HTTPDate(
            year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    }

    private static func clock(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let parts = Substring(token).parts(":", maximum: 3, keepingEmpty: true)
        guard parts.count == 3, (1...2).contains(parts[0].utf8.count), (1...2).contains(parts[1].utf8.count),
            let hour = ASCII.decimal(parts[0]), let minute = ASCII.decimal(parts[1]),
            let second = number(parts[2].utf8, digits: 1...2)
        else { return nil }
        return (Int(hour), Int(minute), second)
    }

    /// Returns the number at the beginning of a token; nil if its number of digits is not in `digits`.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = token.prefix(while: ASCII.isDigit)
        return digits.contains(number.count) ? ASCII.decimal(Substring(number)).map { Int($0) } : nil
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        return months.firstIndex(of: ASCII.lowercased(String(Substring(token.prefix(3))))).map { $0 + 1 }
    }
}
