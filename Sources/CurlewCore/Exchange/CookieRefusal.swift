// SPDX-License-Identifier: MIT

/// Why a jar did not take a cookie. Later versions may add cases.
@nonexhaustive
public enum CookieRefusal: Error, Hashable, Sendable {
    /// It holds a control character, which could forge a header field.
    case controlCharacter
    /// It has neither a name nor a value.
    case empty
    /// Name and value are longer than `CookieLimits.cookieBytes`.
    case tooLong
    /// Its `Domain` is not a domain of the host that set it.
    case foreignDomain
    /// Its `Domain` is one under which anybody can register.
    case publicSuffix
    /// It is `Secure`, and came over plain http.
    case insecureOrigin
    /// It came over plain http and would hide a `Secure` cookie of the same name.
    case hidesSecureCookie
    /// It wants to go along with requests from other sites (`SameSite=None`), and is not `Secure`.
    case insecureSameSite
    /// Its name begins with `__Secure-`, `__Host-`, `__Http-` or `__Host-Http-`, and it does not keep what that promises.
    case brokenPrefix
    /// The answer sets more cookies than `CookieLimits.perResponse`.
    case tooMany
}

extension CookieRefusal: CustomStringConvertible {
    /// One sentence, without the cookie.
    public var description: String {
        switch self {
        case .controlCharacter: "The cookie holds a control character."
        case .empty: "The cookie has neither a name nor a value."
        case .tooLong: "The cookie is too long."
        case .foreignDomain: "The cookie's Domain is not a domain of the host that set it."
        case .publicSuffix: "The cookie's Domain is one under which anybody can register."
        case .insecureOrigin: "The cookie is Secure and came over plain http."
        case .hidesSecureCookie: "The cookie came over plain http and would hide a Secure one of the same name."
        case .insecureSameSite: "The cookie is for requests from other sites too, and not Secure."
        case .brokenPrefix: "The cookie's name promises what its attributes do not keep."
        case .tooMany: "The answer sets too many cookies."
        }
    }
}
