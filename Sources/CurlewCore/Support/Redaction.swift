// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is never written down: the one list of secret-looking names, used by logs, errors and recorded commands.
///
/// Names are compared without regard to case, `-`, `_`, `.` and brackets, so that `user[new_password]` is
/// `usernewpassword`. Values are replaced whole by `REDACTED`; nothing of a secret, not even its length, is shown.
public struct Redaction: Sendable {
    /// Header fields whose values are secret.
    public var headerNames: Set<HTTPField.Name>
    /// Query, form and JSON members whose values are secret, lower-case letters and digits only.
    public var memberNames: Set<String>
    /// Endings of such names: `password` covers `newPassword` too.
    public var memberEndings: Set<String>
    /// Names that are secret in a query or a form, but mean something else in JSON, such as `code`.
    public var queryNames: Set<String>

    /// A list of one's own.
    public init(
        headerNames: Set<HTTPField.Name>, memberNames: Set<String>, memberEndings: Set<String> = [],
        queryNames: Set<String> = []
    ) {
        self.headerNames = headerNames
        self.memberNames = memberNames
        self.memberEndings = memberEndings
        self.queryNames = queryNames
    }

    /// Credentials, cookies, tokens, keys, signatures and passwords under their usual names.
    public static let standard = Redaction(
        headerNames: Set(HTTPField.Name.sensitive.map { HTTPField.Name($0) }),
        memberNames: [
            "authorization", "auth", "codeverifier", "assertion", "clientassertion", "sig", "session", "sessionid",
            "jwt", "pin", "otp", "totp", "passcode", "authcode", "authorizationcode", "verificationcode", "mfacode",
            "passwordconfirmation", "xamzcredential", "awsaccesskeyid", "credential", "credentials", "setcookie",
            "cookie", "cookies",
        ],
        memberEndings: [
            "password", "passwd", "passphrase", "secret", "token", "apikey", "secretkey", "privatekey", "accesskey",
            "signature",
        ],
        queryNames: ["code", "key", "pwd", "pass"])

    /// Nothing is secret. For a look at one's own traffic; never for anything that is kept.
    public static let none = Redaction(headerNames: [], memberNames: [])

    /// What stands in place of a secret.
    package static let mark = "REDACTED"

    /// The headers with secret values replaced; order and names stay. Fields that hold a URL lose its secrets only.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.map { HTTPField(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// The value as it may be shown.
    package func value(_ value: String, ofHeader name: HTTPField.Name) -> String {
        if headerNames.contains(name) { return Self.mark }
        return Self.urlHeaders.contains(name) ? url(value) : value
    }

    /// Fields whose values are URLs: a redirect after a sign-in carries its code or token there.
    private static let urlHeaders: Set<HTTPField.Name> = [.location, .contentLocation, .referer, .link, "Refresh"]

    /// The URL without userinfo and with secret query and fragment values replaced; keys and order stay.
    public func url(_ url: String) -> String {
        // By bytes: a sign with a combining mark behind it is another `Character`, and still ends what is before it.
        var text = url.utf8[...]
        var prefix = ""
        if let scheme = text.firstRange(of: "://".utf8) {
            let authorityEnd = text[scheme.upperBound...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
            let at = text[scheme.upperBound..<authorityEnd].lastIndex(of: Self.at).map { text.index(after: $0) }
            prefix = String(Substring(text[..<scheme.upperBound]))
            text = text[(at ?? scheme.upperBound)...]
        }
        guard let mark = text.firstIndex(where: Self.isMark) else { return prefix + Substring(text) }
        // A fragment may begin with a path of its own, `#/callback?token=…`, so every mark begins new pairs.
        let parts = text[mark...].split(omittingEmptySubsequences: false, whereSeparator: Self.isMark)
        var result = prefix + Substring(text[..<mark])
        for part in parts.dropFirst() {
            result.unicodeScalars.append(Unicode.Scalar(text[text.index(before: part.startIndex)]))
            result += pairs(Substring(part))
        }
        return result
    }

    private static let at = UInt8(ascii: "@")

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    /// `a=1&token=2` with secret values replaced. A secret reaches up to the next `&`; a name may follow `;` too.
    package func pairs(_ text: Substring) -> String {
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { pair in
            var start = pair.startIndex
            while let equals = pair[start...].firstIndex(of: UInt8(ascii: "=")) {
                let name = Substring(pair[start..<equals])
                if isSecret(queryName: name) { return Substring(pair[...equals]) + Self.mark }
                guard let next = pair[equals...].firstIndex(of: UInt8(ascii: ";")) else { break }
                start = pair.index(after: next)
            }
            return String(Substring(pair))
        }.joined(separator: "&")
    }

    /// True when the value under `name` is not to be shown.
    package func isSecret(member name: some StringProtocol) -> Bool {
        let plain = normalised(name)
        return memberNames.contains(plain) || memberEndings.contains { plain.hasSuffix($0) }
    }

    private func isSecret(queryName name: Substring) -> Bool {
        let decoded = PercentCoding.decodeForm(String(name)) ?? String(name)
        return queryNames.contains(normalised(decoded)) || isSecret(member: decoded)
    }

    private func normalised(_ name: some StringProtocol) -> String {
        name.lowercased().filter { !"-_.[] ".contains($0) }
    }
}
