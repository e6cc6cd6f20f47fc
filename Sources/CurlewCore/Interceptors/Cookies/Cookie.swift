// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie as a server set it (RFC 6265bis §5.7). Its value is a secret: descriptions leave it out.
public struct Cookie: Hashable, Sendable, Codable {
    /// The name; empty for a cookie without one.
    public let name: String
    /// The value as it came, quotes included. Nothing is decoded.
    public let value: String
    /// The host that gets it and, unless `isHostOnly`, the hosts beneath. In lower case and punycode.
    public let domain: String
    /// True when `domain` alone gets it.
    public let isHostOnly: Bool
    /// The path that gets it and, in whole segments, the paths beneath.
    public let path: String
    /// True when it is sent over https only, and to loopback.
    public let isSecure: Bool
    /// True when the server keeps it from scripts. Without meaning here: there are no scripts.
    public let isHTTPOnly: Bool
    /// Which redirects from other sites it survives.
    public let sameSite: SameSite
    /// When it ends; nil for a session cookie, which ends with its jar.
    public let expires: Date?
    /// When its server first set it. A new value does not change it.
    public let created: Date

    /// What `SameSite` says.
    ///
    /// Browsers ask which page causes a request. Here the app does, so every call begins at home and all its cookies go
    /// along. What a foreign site can cause is a redirect: when one has led to a request, `strict` cookies stay behind,
    /// and `lax` and `unspecified` ones too unless the method is safe (RFC 6265bis §5.8.3).
    public enum SameSite: String, Hashable, Sendable, Codable {
        /// Only with requests that no other site has led to.
        case strict
        /// Also with safe methods after a redirect from another site.
        case lax
        /// With all requests.
        case none
        /// Not said, or not understood. Treated as `lax`.
        case unspecified
    }

    /// A cookie of one's own, for `CookieStore.insert(_:)`.
    ///
    /// - `domain`: the host that gets it. Names outside ASCII are put in punycode.
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

    /// True when its time is over.
    public func hasExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// As it stands in the `Cookie` field.
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

    /// Nothing inside, so that `dump` shows no value.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
