// SPDX-License-Identifier: MIT

import CurlewHTTP

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
        if let mark = text.utf8.firstRange(of: "://".utf8) {
            let scheme = text[..<mark.lowerBound].lowercased()
            switch scheme {
            case "http", "https": return text
            case "ws": return "http" + text[mark.lowerBound...]
            case "wss": return "https" + text[mark.lowerBound...]
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

    private static func isLoopback(_ authority: Substring) -> Bool {
        var host = authority
        if let colon = host.last(":"), !host.ends(with: "]"),
            host.utf8.first == UInt8(ascii: "[")
                || host.utf8.filter({ $0 == UInt8(ascii: ":") }).count == 1
        {
            host = host[..<colon]
        }
        return Origin(scheme: "http", host: String(host))?.isLoopback ?? false
    }
}
