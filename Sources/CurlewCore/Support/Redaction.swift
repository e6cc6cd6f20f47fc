// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is never written down: the one list of secret-looking names, used by logs, errors and recorded commands.
///
/// Names are compared without regard to case, `-` and `_`. Values are replaced whole by `REDACTED`; nothing of a
/// secret, not even its length, is shown.
public struct Redaction: Sendable {
    /// Header fields whose values are secret.
    public var headerNames: Set<HTTPField.Name>
    /// Query, form and JSON members whose values are secret, lower-case without `-` and `_`.
    public var memberNames: Set<String>

    /// A list of one's own.
    public init(headerNames: Set<HTTPField.Name>, memberNames: Set<String>) {
        self.headerNames = headerNames
        self.memberNames = memberNames
    }

    /// Credentials, cookies, tokens, keys, signatures and passwords under their usual names.
    public static let standard = Redaction(
        headerNames: Set(HTTPField.Name.sensitive.map { HTTPField.Name($0) }),
        memberNames: [
            "password", "passwd", "secret", "clientsecret", "token", "accesstoken", "refreshtoken", "idtoken", "apikey",
            "key", "authorization", "auth", "code", "codeverifier", "assertion", "clientassertion", "signature", "sig",
            "session", "sessionid", "jwt", "pin", "otp", "xamzsignature", "xamzcredential", "xamzsecuritytoken",
            "awsaccesskeyid", "xgoogsignature", "privatekey", "credential", "credentials",
        ])

    /// What stands in place of a secret.
    package static let mark = "REDACTED"

    /// The headers with secret values replaced; order and names stay.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.map { HTTPField(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// The value as it may be shown.
    package func value(_ value: String, ofHeader name: HTTPField.Name) -> String {
        headerNames.contains(name) ? Self.mark : value
    }

    /// The URL without userinfo and with secret query values replaced; keys and order stay.
    public func url(_ url: String) -> String {
        var text = Substring(url)
        var prefix = ""
        if let scheme = text.firstRange(of: "://") {
            let authorityEnd = text[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
            let at = text[scheme.upperBound..<authorityEnd].lastIndex(of: "@").map { text.index(after: $0) }
            prefix = String(text[..<scheme.upperBound])
            text = text[(at ?? scheme.upperBound)...]
        }
        guard let mark = text.firstIndex(of: "?") else { return prefix + text }
        let query = text[text.index(after: mark)...]
        return prefix + text[...mark] + pairs(query)
    }

    /// `a=1&token=2` with secret values replaced.
    package func pairs(_ text: Substring) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "="), isSecret(member: String(pair[..<equals])) else {
                return String(pair)
            }
            return pair[...equals] + Self.mark
        }.joined(separator: "&")
    }

    /// True when the value under `name` is not to be shown.
    package func isSecret(member name: String) -> Bool {
        let decoded = PercentCoding.decode(name) ?? name
        return memberNames.contains(decoded.lowercased().filter { $0 != "-" && $0 != "_" })
    }

    /// Text of a body as it may be shown: secret members of JSON and forms are replaced.
    ///
    /// Works on text that is cut off or malformed too: a string after a secret name is replaced up to its closing
    /// quote or the end.
    package func bodyText(_ text: String, mediaType: MediaType?) -> String {
        if mediaType?.essence == "application/x-www-form-urlencoded" { return pairs(Substring(text)) }
        return JSONTextRedactor(redaction: self).redact(text)
    }
}
