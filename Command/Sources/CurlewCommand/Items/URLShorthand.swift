// SPDX-License-Identifier: MIT

import Curlew

/// Completes URLs that lack a scheme or a host.
enum URLShorthand {
    /// Returns the complete URL.
    ///
    /// | written | meaning |
    /// |---|---|
    /// | `:8080/path`, `:/path`, `:` | `http://localhost:8080/path`, and so on |
    /// | `localhost/path`, `127.0.0.1`, `[::1]:8080` | http |
    /// | `host/path` | https |
    /// | `ws://`, `wss://` | http, https: only the opening request of a WebSocket is meant |
    static func complete(_ text: String) throws(UsageError) -> String {
        guard !text.isEmpty else { throw UsageError("The URL is empty.") }
        if let scheme = scheme(of: text) {
            let rest = text[scheme.endIndex...]
            switch scheme.lowercased() {
            case "http", "https": return text
            case "ws": return "http" + rest
            case "wss": return "https" + rest
            default: throw UsageError("The scheme \(scheme) is not supported.", "Use http or https.")
            }
        }
        if text.utf8.first == UInt8(ascii: ":") {
            let rest = text.dropFirst()
            let hasPort = rest.utf8.first.map { (0x30...0x39).contains($0) } ?? false
            return "http://localhost" + (hasPort ? ":" : "") + rest
        }
        let authority = text.prefix { !"/?#".contains($0) }
        return (isLoopback(authority) ? "http://" : "https://") + text
    }

    /// Returns the scheme of a URL that has one. A URL in the query of another one is not meant.
    static func scheme(of text: String) -> Substring? {
        guard let mark = text.utf8.firstRange(of: "://".utf8) else { return nil }
        let scheme = text[..<mark.lowerBound]
        let isScheme = scheme.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "+-.".utf8.contains($0)
        }
        return isScheme && !scheme.isEmpty ? scheme : nil
    }

    /// Returns the user and the password of a complete URL, and the URL without them. Nil if it has none.
    static func userinfo(of url: String) -> (userinfo: String, url: String)? {
        guard let scheme = scheme(of: url) else { return nil }
        let start = url.utf8.index(scheme.endIndex, offsetBy: 3)
        let end = url.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? url.endIndex
        guard let at = url.utf8[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return nil }
        let rest = url[url.utf8.index(after: at)...]
        return (String(url[start..<at]), String(url[..<start]) + rest)
    }

    private static func isLoopback(_ authority: Substring) -> Bool {
        var host = authority
        let colon = host.utf8.lastIndex(of: UInt8(ascii: ":"))
        let isBracketed = host.utf8.first == UInt8(ascii: "[")
        if let colon, !host.ends(with: "]"), isBracketed || host.first(":") == colon { host = host[..<colon] }
        return Origin(scheme: "http", host: String(host))?.isLoopback ?? false
    }

    /// Returns the text of user information; nil if it is not percent-encoded correctly.
    static func decoded(_ userinfo: String) -> String? {
        var bytes: [UInt8] = []
        var remainder = userinfo.utf8[...]
        while let byte = remainder.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = Substring(remainder.prefix(2))
            guard digits.utf8.count == 2, digits.first != "+", let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            remainder = remainder.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
