// SPDX-License-Identifier: MIT

extension Cookie {
    /// The reason why a cookie jar rejected a cookie. Later versions may add cases.
    @nonexhaustive
    public enum Refusal: Error, Hashable, Sendable {
        /// The cookie contains a control character. Such a character could forge a header field. A cookie that the app
        /// inserts is also refused if it contains a semicolon, or an equals sign in its name.
        case controlCharacter
        /// The cookie has neither a name nor a value.
        case empty
        /// Name and value together are longer than 4096 bytes.
        case tooLong
        /// The `Domain` attribute does not match the host that set the cookie, or is not a valid host name.
        case foreignDomain
        /// The `Domain` attribute is a public suffix, such as `co.uk`, under which the public can register domains.
        case publicSuffix
        /// The cookie is `Secure` and arrived over plain http.
        case insecureOrigin
        /// The cookie arrived over plain http and would hide a `Secure` cookie with the same name.
        case hidesSecureCookie
        /// The cookie is meant for cross-site requests (`SameSite=None`) and is not `Secure`.
        case insecureSameSite
        /// The name begins with `__Secure-`, `__Host-`, `__Http-` or `__Host-Http-`, and the attributes do not meet the
        /// requirements of that prefix.
        case brokenPrefix
        /// The response sets more than 50 cookies.
        case tooMany
    }
}

extension Cookie.Refusal: CustomStringConvertible {
    /// The reason in one sentence, without the content of the cookie.
    public var description: String {
        switch self {
        case .controlCharacter: "The cookie contains a control character."
        case .empty: "The cookie has neither a name nor a value."
        case .tooLong: "The cookie is too long."
        case .foreignDomain: "The cookie's Domain is not a domain of the host that set it."
        case .publicSuffix: "The cookie's Domain is a public suffix."
        case .insecureOrigin: "The cookie is Secure but was received over plain http."
        case .hidesSecureCookie:
            "The cookie was received over plain http and would hide a Secure cookie of the same name."
        case .insecureSameSite: "The cookie is SameSite=None but not Secure."
        case .brokenPrefix: "The cookie's attributes do not satisfy the prefix of its name."
        case .tooMany: "The response sets too many cookies."
        }
    }
}
