// SPDX-License-Identifier: MIT

import CurlewCore

extension CookieStore {
    /// The limits on the cookies that a jar stores and a client sends (RFC 6265bis §5.6, §6.1).
    struct Limits: Hashable, Sendable {
        /// The maximum size of name and value together, in bytes; a larger cookie is refused. Default 4096.
        var cookieBytes = 4096
        /// The maximum size of an attribute's value, in bytes; a larger attribute is ignored. Default 1024.
        var attributeBytes = 1024
        /// The maximum number of cookies for one domain. Default 50.
        var perDomain = 50
        /// The maximum number of cookies in the jar. Default 3000.
        var total = 3000
        /// The maximum number of cookies that one response may set; further cookies are refused. Default 50.
        var perResponse = 50
        /// The maximum size of a `Cookie` field, in bytes. Cookies with the longest paths are added first; cookies that
        /// do not fit are not sent. Default 16 KiB.
        var headerBytes = 16 * 1024
        /// The maximum lifetime of a cookie, even if the server specifies a longer one. Default 400 days.
        var lifetime = Duration.seconds(400 * 86_400)

        init() {}

        static let standard = CookieStore.Limits()
    }
}
