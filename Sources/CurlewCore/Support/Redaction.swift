// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What is never written down: the one list of secret-looking names, used by logs, errors and recorded commands.
///
/// Names are compared without regard to case, `-`, `_`, `.` and brackets, so that `user[new_password]` is
/// `usernewpassword`. Values are replaced whole by `REDACTED`; nothing of a secret, not even its length, is shown.
///
/// What a client's `FieldRules` and its interceptors declare is added wherever texts about its calls are made; an app
/// needs a list of its own only to hide more, or less, in one place.
public struct Redaction: Sendable {
    /// Header fields whose values are secret.
    public var headerNames: Set<HTTPField.Name>
    /// Endings of names of header fields whose values are secret, lower-case letters and digits only.
    public var headerEndings: Set<String>
    /// Query, form, JSON and XML members whose values are secret, lower-case letters and digits only.
    public var memberNames: Set<String>
    /// Endings of such names: `password` covers `newPassword` too.
    public var memberEndings: Set<String>
    /// Names that are secret in a query or a form, but mean something else in JSON, such as `code`.
    public var queryNames: Set<String>
    /// Paths with secrets in them, as `FieldRules.secretPaths` has them.
    public var pathPatterns: Set<String>
    /// Header fields that are shown whatever their names end in.
    private var shownNames: Set<HTTPField.Name> = []

    /// A list of one's own.
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

    /// Nothing is secret. For a look at one's own traffic; never for anything that is kept.
    public static let none = Redaction(headerNames: [], memberNames: [])

    /// What stands in place of a secret.
    package static let mark = "REDACTED"

    /// This list with what `rules` declare.
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

    /// The headers with secret values replaced; order and names stay. Fields that hold a URL lose its secrets only.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.map { HTTPField(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// The value as it may be shown.
    package func value(_ value: String, ofHeader name: HTTPField.Name) -> String {
        if isSecret(header: name) { return Self.mark }
        return Self.urlHeaders.contains(name) ? url(value) : value
    }

    /// Fields whose values are URLs: a redirect after a sign-in carries its code or token there.
    private static let urlHeaders: Set<HTTPField.Name> = [.location, .contentLocation, .referer, .link, "Refresh"]

    /// True when the value of the header field is not to be shown.
    package func isSecret(header name: HTTPField.Name) -> Bool {
        if headerNames.contains(name) { return true }
        if headerEndings.isEmpty || shownNames.contains(name) { return false }
        if name.isSensitive && headerEndings.isSuperset(of: SecretName.endings) { return true }
        return SecretName.ends(SecretName.plain(name.text), in: headerEndings)
    }

    /// True when the value under `name` is not to be shown.
    package func isSecret(member name: some StringProtocol) -> Bool {
        let plain = SecretName.plain(name)
        if memberNames.contains(plain) { return true }
        // A member `key` is often a key of a table.
        return plain != "key" && SecretName.ends(plain, in: memberEndings)
    }

    func isSecret(queryName name: Substring) -> Bool {
        let decoded = PercentCoding.decodeForm(String(name)) ?? String(name)
        return queryNames.contains(SecretName.plain(decoded)) || isSecret(member: decoded)
    }

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
}
