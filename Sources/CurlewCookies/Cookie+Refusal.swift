// SPDX-License-Identifier: MIT

extension Cookie {
    /// The reason why a cookie was rejected: `print(refusal)`.
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
