// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie as a server set it (RFC 6265bis §5.7). Descriptions omit the value, which is a secret.
public struct Cookie: Hashable, Sendable, Codable {
    /// The name; empty for a cookie without one.
    public let name: String
    /// The value as received, quotes included. It is not decoded.
    public let value: String
    /// The host that receives the cookie and, unless `isHostOnly`, the hosts beneath. In lower case and punycode.
    public let domain: String
    /// Whether only `domain` receives the cookie.
    public let isHostOnly: Bool
    /// The path for which the cookie is sent, including the paths beneath it in whole segments.
    public let path: String
    /// Whether the cookie is sent only over https and to loopback.
    public let isSecure: Bool
    /// Whether the server hides the cookie from scripts. It has no effect here.
    public let isHTTPOnly: Bool
    /// Which cross-site redirects the cookie is sent after.
    public let sameSite: SameSite
    /// The time when the cookie expires; nil for a session cookie, which lasts as long as its jar.
    public let expires: Date?
    /// The time when the server first set the cookie. A new value does not change it.
    public let created: Date

    /// The value of the `SameSite` attribute.
    ///
    /// In a browser, the page that causes a request determines its site. Here the app causes every call, so a call
    /// begins as same-site and all its cookies are sent. Another site can only redirect. After a redirect from another
    /// site, `strict` cookies are not sent, and `lax` and `unspecified` ones are sent only if the method is safe (RFC
    /// 6265bis §5.8.3).
    public enum SameSite: String, Hashable, Sendable, Codable {
        /// Sent only with requests that no other site led to.
        case strict
        /// Also sent with safe methods after a redirect from another site.
        case lax
        /// Sent with all requests.
        case none
        /// Absent or not recognized. Treated as `lax`.
        case unspecified
    }

    /// Creates a cookie for `CookieStore.insert(_:)`.
    ///
    /// - `domain`: the host that receives the cookie. Names outside ASCII are converted to punycode.
    /// - `isHostOnly`: false to include the hosts beneath. Default true.
    public init(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/",
        isSecure: Bool = true, isHTTPOnly: Bool = true, sameSite: SameSite = .unspecified, expires: Date? = nil,
        created: Date = Date()
    ) {
        self.name = name
        self.value = value
        let bare = domain.utf8.first == UInt8(ascii: ".") ? String(Substring(domain.utf8.dropFirst())) : domain
        self.domain = Punycode.hostName(bare) ?? bare
        self.isHostOnly = isHostOnly
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.expires = expires
        self.created = created
    }

    /// Returns whether the cookie has expired.
    public func hasExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// The cookie as written in the `Cookie` field.
    package var pair: String {
        name.isEmpty ? value : "\(name)=\(value)"
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name, domain and path; never the value.
    public var description: String {
        "\(name)=\(Redaction.mark) for \(isHostOnly ? "" : "*.")\(domain)\(path)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows no value.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
