// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The names of secrets, which logs, errors and curl commands redact.
///
/// Names are compared without regard to case, `-`, `_`, `.` and brackets, so that `user[new_password]` is
/// `usernewpassword`. Values are replaced as a whole by `REDACTED`, which does not disclose their length.
///
/// The declarations of a client's `FieldRules` and of its interceptors are added to all texts about its calls. An app
/// needs a custom list only to hide more, or less, in a single place.
public struct Redaction: Sendable {
    /// The header fields whose values are secret.
    public var headerNames: Set<HTTPField.Name>
    /// Suffixes of names of secret header fields, lower-case letters and digits only.
    public var headerEndings: Set<String>
    /// The query, form, JSON and XML members whose values are secret, lower-case letters and digits only.
    public var memberNames: Set<String>
    /// Suffixes of such names: `password` includes `newPassword`.
    public var memberEndings: Set<String>
    /// Names that are secret in a query or a form, but have another meaning in JSON, such as `code`.
    public var queryNames: Set<String>
    /// Patterns of paths that contain secrets, in the form of `FieldRules.secretPaths`.
    public var pathPatterns: Set<String>
    /// The header fields that are shown regardless of their suffix.
    private var shownNames: Set<HTTPField.Name> = []

    /// Creates a custom list.
    public init(
        headerNames: Set<HTTPField.Name>, memberNames: Set<String>, memberEndings: Set<String> = [],
        queryNames: Set<String> = [], headerEndings: Set<String> = [], pathPatterns: Set<String> = []
    ) {
        self.headerNames = headerNames
        self.headerEndings = headerEndings
        self.memberNames = memberNames
        self.memberEndings = memberEndings
        self.queryNames = queryNames
        self.pathPatterns = pathPatterns
    }

    /// Credentials, cookies, tokens, keys, signatures and passwords under their usual names.
    public static let standard = Redaction(
        headerNames: Set((HTTPField.Name.sensitive).map { HTTPField.Name($0) }),
        memberNames: [
            "auth", "codeverifier", "sig", "pin", "otp", "totp", "authcode", "authorizationcode", "verificationcode",
            "mfacode", "devicecode", "passwordconfirmation", "awsaccesskeyid", "setcookie", "pass", "samlresponse",
            "samlrequest", "jsessionid", "phpsessid", "dpop", "basicauth",
        ],
        memberEndings: SecretName.endings,
        queryNames: ["code", "key", "sid", "ticket", "usercode"], headerEndings: SecretName.endings)

    /// Hides nothing. For inspecting your own traffic; never for stored texts.
    public static let none = Redaction(headerNames: [], memberNames: [])

    /// The replacement for a secret.
    package static let mark = "REDACTED"

    /// Returns this list with the declarations of `rules` added.
    public func adding(_ rules: FieldRules) -> Redaction {
        var copy = self
        copy.headerNames.formUnion(rules.secret)
        copy.memberNames.formUnion(rules.secretMembers.map { SecretName.plain($0) })
        copy.pathPatterns.formUnion(rules.secretPaths)
        copy.shownNames = rules.harmless.subtracting(copy.headerNames)
        return copy
    }

    /// True when nothing is secret.
    package var hidesNothing: Bool {
        headerNames.isEmpty && headerEndings.isEmpty && memberNames.isEmpty && memberEndings.isEmpty
            && queryNames.isEmpty && pathPatterns.isEmpty
    }

    /// Returns the headers with secret values replaced. Order and names are kept. In fields with a URL, only its
    /// secrets are replaced.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.map { HTTPField(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// Returns the redacted value.
    package func value(_ value: String, ofHeader name: HTTPField.Name) -> String {
        if isSecret(header: name) { return Self.mark }
        return Self.urlHeaders.contains(name) ? url(value) : value
    }

    /// The fields whose values are URLs. A redirect after a sign-in contains its code or token there.
    static let urlHeaders: Set<HTTPField.Name> = [.location, .contentLocation, .referer, .link, "Refresh"]

    /// Returns true when the value of the header field is secret.
    package func isSecret(header name: HTTPField.Name) -> Bool {
        if headerNames.contains(name) { return true }
        if headerEndings.isEmpty || shownNames.contains(name) { return false }
        if name.isSensitive && headerEndings.isSuperset(of: SecretName.endings) { return true }
        return SecretName.ends(SecretName.plain(name.text), in: headerEndings)
    }

    /// Returns true when the value of the member is secret.
    package func isSecret(member name: some StringProtocol) -> Bool {
        let plain = SecretName.plain(name)
        if memberNames.contains(plain) { return true }
        // A member `key` is often the key of a table.
        return plain != "key" && SecretName.ends(plain, in: memberEndings)
    }

    func isSecret(queryName name: Substring) -> Bool {
        let decoded = PercentCoding.decodeForm(String(name)) ?? String(name)
        return queryNames.contains(SecretName.plain(decoded)) || isSecret(member: decoded)
    }

    /// Returns pairs such as `a=1&token=2` with secret values replaced. A secret extends to the next `&`; a name may
    /// follow `;` too.
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
}
