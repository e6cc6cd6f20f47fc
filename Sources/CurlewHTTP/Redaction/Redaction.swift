// SPDX-License-Identifier: MIT

/// A list of names whose values are secret. Logs, errors and curl commands replace these values.
///
/// Names are compared without regard to case, `-`, `_`, `.`, `:`, spaces and brackets, so that `user[new_password]` is
/// `usernewpassword`. `REDACTED` replaces the complete value and does not disclose its length.
///
/// In all messages about the calls of a client, the declarations of its `FieldRules` and of its interceptors are added
/// to the list. An app needs a custom list only to hide more, or less, in a single place.
public struct Redaction: Sendable {
    /// The header fields whose values are secret.
    public var headerNames: Set<HTTPField.Name>
    /// The suffixes of secret header field names, in lower-case letters and digits only: `token` matches
    /// `X-Auth-Token`.
    public var headerEndings: Set<String>
    /// The names of query items, form fields, and members of JSON whose values are secret, in lower-case
    /// letters and digits only.
    public var memberNames: Set<String>
    /// The suffixes of such names, in lower-case letters and digits only: `password` matches `newPassword`.
    public var memberEndings: Set<String>
    /// The names that are secret in a query or a form but have another meaning in JSON, such as `code`. In lower-case
    /// letters and digits only.
    public var queryNames: Set<String>
    /// The patterns of URL paths that contain secrets, in the form of `FieldRules.secretPaths`.
    public var pathPatterns: Set<String>
    /// The header fields that are shown even if their names have a secret suffix.
    private var shownNames: Set<HTTPField.Name> = []

    /// Creates a custom list, which contains only the given names. Omitted parameters are empty.
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

    /// The default list: credentials, cookies, tokens, keys, signatures and passwords under their usual names.
    public static let standard = Redaction(
        headerNames: Set((HTTPField.Name.sensitive).map { HTTPField.Name($0) }),
        memberNames: [
            "auth", "codeverifier", "sig", "pin", "otp", "totp", "authcode", "authorizationcode", "verificationcode",
            "mfacode", "devicecode", "passwordconfirmation", "awsaccesskeyid", "setcookie", "pass", "samlresponse",
            "samlrequest", "jsessionid", "phpsessid", "dpop", "basicauth",
        ],
        memberEndings: SecretName.endings,
        queryNames: ["code", "key", "sid", "ticket", "usercode"], headerEndings: SecretName.endings)

    /// An empty list, which hides nothing except the userinfo of URLs. Use it to inspect your own traffic, never for
    /// stored text.
    public static let none = Redaction(headerNames: [], memberNames: [])

    /// The text that replaces a secret value.
    package static let mark = "REDACTED"

    /// Returns this list with the declarations of `rules` added. A field that this list or `rules` declare as secret
    /// stays secret, even if the other declares it as harmless.
    public func adding(_ rules: FieldRules) -> Redaction {
        var copy = self
        copy.headerNames.formUnion(rules.secret)
        copy.memberNames.formUnion(rules.secretMembers.map { SecretName.plain($0) })
        copy.pathPatterns.formUnion(rules.secretPaths)
        copy.shownNames = shownNames.union(rules.harmless).subtracting(copy.headerNames)
        return copy
    }

    /// True if the list is empty, so that nothing is hidden.
    package var hidesNothing: Bool {
        headerNames.isEmpty && headerEndings.isEmpty && memberNames.isEmpty && memberEndings.isEmpty
            && queryNames.isEmpty && pathPatterns.isEmpty
    }

    /// Returns the headers with secret values replaced. Order and names are kept. In a field whose value is a URL, such
    /// as `Location`, only the secrets of the URL are replaced.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.map { HTTPField(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// Returns the value of a header field with its secrets replaced.
    package func value(_ value: String, ofHeader name: HTTPField.Name) -> String {
        if isSecret(header: name) { return Self.mark }
        return Self.urlHeaders.contains(name) ? url(value) : value
    }

    /// The fields whose values contain URLs. After a sign-in, the URL of a redirect contains a code or a token.
    package static let urlHeaders: Set<HTTPField.Name> = [.location, .contentLocation, .referer, .link, "Refresh"]

    /// Returns whether the value of the header field is secret.
    package func isSecret(header name: HTTPField.Name) -> Bool {
        if headerNames.contains(name) { return true }
        if headerEndings.isEmpty || shownNames.contains(name) { return false }
        if name.isSensitive && headerEndings.isSuperset(of: SecretName.endings) { return true }
        return SecretName.ends(SecretName.plain(name.text), in: headerEndings)
    }

    /// Returns whether the value of the member is secret.
    package func isSecret(member name: some StringProtocol) -> Bool {
        let plain = SecretName.plain(name)
        if memberNames.contains(plain) { return true }
        // A member `key` is often the key of a table, which is not secret.
        return plain != "key" && SecretName.ends(plain, in: memberEndings)
    }

    func isSecret(queryName name: Substring) -> Bool {
        let decoded = PercentCoding.decodeForm(String(name)) ?? String(name)
        return queryNames.contains(SecretName.plain(decoded)) || isSecret(member: decoded)
    }

    /// Returns name-value pairs such as `a=1&token=2` with secret values replaced. A secret value extends to the next
    /// `&`. A name may follow `&` or `;`.
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
