// SPDX-License-Identifier: MIT

/// The most that servers may make a cookie jar hold and a client send (RFC 6265bis §5.6, §6.1).
public struct CookieLimits: Hashable, Sendable {
    /// Bytes of name and value together; a longer cookie is refused. Default 4096.
    public var cookieBytes = 4096
    /// Bytes of one attribute's value; a longer one is passed over. Default 1024.
    public var attributeBytes = 1024
    /// Cookies of one domain. Default 50.
    public var perDomain = 50
    /// Cookies in the jar. Default 3000.
    public var total = 3000
    /// Cookies that one answer may set; the others are passed over. Default 50.
    public var perResponse = 50
    /// Bytes of a `Cookie` field. What does not fit is not sent; those with the longest paths come first. Default 16 KiB.
    public var headerBytes = 16 * 1024
    /// The longest life of a cookie, whatever it asks for. Default 400 days.
    public var lifetime = Duration.seconds(400 * 86_400)

    /// The defaults.
    public init() {}

    /// The defaults.
    public static let standard = CookieLimits()
}
