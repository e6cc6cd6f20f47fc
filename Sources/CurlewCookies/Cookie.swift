// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// A cookie with its attributes (RFC 6265bis §5.7). Descriptions omit the value, because it is a secret.
public struct Cookie: Hashable, Sendable, Codable {
    /// The name of the cookie; empty if it has none.
    public let name: String
    /// The value as received, including quotes. It is not decoded.
    public let value: String
    /// The host that receives the cookie, in lower case and punycode. Unless `isHostOnly` is true, its subdomains also
    /// receive the cookie.
    public let domain: String
    /// Whether only `domain` receives the cookie.
    public let isHostOnly: Bool
    /// The path to which the cookie is sent. A path includes those below, by complete segments: `/a` includes `/a/b`,
    /// but not `/ab`.
    public let path: String
    /// Whether the cookie is sent only over https and to loopback.
    public let isSecure: Bool
    /// Whether the server set the `HttpOnly` attribute. It hides the cookie from scripts in browsers and has no effect
    /// on requests.
    public let isHTTPOnly: Bool
    /// The `SameSite` attribute. It determines whether the cookie is sent after a redirect from another site.
    public let sameSite: SameSite
    /// The time when the cookie expires. Nil for a session cookie, which ends with the process unless a file store
    /// keeps session cookies.
    public let expires: Date?
    /// The time when the server first set the cookie. A new value does not change it.
    public let created: Date

    /// The value of the `SameSite` attribute.
    ///
    /// In a browser, the page that causes a request determines whether the request is cross-site. Here the app causes
    /// every call, so a call begins as same-site and all its cookies are sent. Only a redirect from another site makes
    /// a request cross-site. Then `strict` cookies are not sent, and `lax` and `unspecified` cookies are sent only if
    /// the method is safe (RFC 6265bis §5.8.3).
    public enum SameSite: String, Hashable, Sendable, Codable {
        /// The cookie is not sent after a redirect from another site.
        case strict
        /// After a redirect from another site, the cookie is sent only with safe methods.
        case lax
        /// The cookie is sent with all requests. A store refuses it unless it is `Secure`.
        case none
        /// The attribute is absent or not recognized. Treated as `lax`.
        case unspecified
    }

    /// Creates a cookie for `CookieStore.insert(_:at:)`, which validates it.
    ///
    /// - `domain`: the host that receives the cookie. A leading dot is removed, and names outside ASCII are converted
    ///   to punycode.
    /// - `isHostOnly`: false if the subdomains of `domain` also receive the cookie. Default true.
    /// - `isSecure`: whether the cookie is sent only over https and to loopback. Default true.
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

    /// Returns whether the cookie has expired at `now`. A session cookie does not expire.
    func hasExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// The name and value as written in the `Cookie` field.
    package var pair: String {
        name.isEmpty ? value : "\(name)=\(value)"
    }
}

extension Cookie: MirroredByDescription {
    /// The name, domain and path. The description never contains the value.
    public var description: String {
        "\(name)=\(Redaction.mark) for \(isHostOnly ? "" : "*.")\(domain)\(path)"
    }
}

extension Cookie {
    /// The reason why a cookie was refused: `print(refusal)`.
    public struct Refusal: Error, Hashable, CustomStringConvertible, Sendable {
        /// The reason in one sentence, without the content of the cookie.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The cookie contains a control character. Such a character could forge a header field. A cookie that the app
        /// inserts is also refused if it contains a semicolon, or an equals sign in its name.
        static let controlCharacter = Refusal("The cookie contains a control character.")
        static let empty = Refusal("The cookie has neither a name nor a value.")
        static let tooLong = Refusal("The cookie is too long.")
        static let foreignDomain = Refusal("The cookie's Domain is not a domain of the host that set it.")
        static let publicSuffix = Refusal("The cookie's Domain is a public suffix.")
        static let insecureOrigin = Refusal("The cookie is Secure but was received over plain http.")
        static let hidesSecureCookie = Refusal(
            "The cookie was received over plain http and would hide a Secure cookie of the same name.")
        static let insecureSameSite = Refusal("The cookie is SameSite=None but not Secure.")
        /// The name begins with `__Secure-`, `__Host-`, `__Http-` or `__Host-Http-`, and the attributes do not meet the
        /// requirements of that prefix.
        static let brokenPrefix = Refusal("The cookie's attributes do not satisfy the prefix of its name.")
        static let tooMany = Refusal("The response sets too many cookies.")
    }
}
