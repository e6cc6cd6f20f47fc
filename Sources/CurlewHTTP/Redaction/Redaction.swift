// SPDX-License-Identifier: MIT

/// Decides by name which values are secret, and replaces them. Logs, errors, recordings and curl commands use it.
///
/// `REDACTED` in such a text says that a value was withheld, and does not disclose its length. ``none`` shows
/// everything:
///
///     print(request.curlCommand(redaction: .none))
///
/// In all messages about the calls of a client, the declarations of its `Redaction.Rules` and of its interceptors are
/// added.
public struct Redaction: Sendable {
    /// Whether the names that Curlew knows are secret, in addition to those of `rules`.
    private let knowsNames: Bool
    private var rules = Redaction.Rules()
    /// The declared members, as `SecretName.plain(_:)` returns them.
    private var secretMembers: Set<String> = []

    private init(knowsNames: Bool) {
        self.knowsNames = knowsNames
    }

    /// Hides credentials, cookies, tokens, keys, codes, signatures and passwords under their usual names.
    public static let standard = Redaction(knowsNames: true)

    /// Hides nothing except the userinfo of URLs. Use it to inspect your own traffic, never for stored text.
    public static let none = Redaction(knowsNames: false)

    /// The text that replaces a secret value.
    package static let mark = "REDACTED"

    /// Returns this redaction with the declarations of `rules` added. A field that this redaction or `rules` declare as
    /// secret stays secret, even if the other declares it as harmless. Added to `none`, they are all that is hidden.
    public func adding(_ rules: Redaction.Rules) -> Redaction {
        var copy = self
        copy.rules.secret.formUnion(rules.secret)
        copy.rules.harmless.formUnion(rules.harmless)
        copy.rules.secretPaths.formUnion(rules.secretPaths)
        copy.secretMembers.formUnion(rules.secretMembers.map { SecretName.plain($0) })
        return copy
    }

    /// The patterns of URL paths that contain secrets, in the form of `Redaction.Rules.secretPaths`.
    package var pathPatterns: Set<String> { rules.secretPaths }

    /// True if nothing is hidden.
    package var hidesNothing: Bool {
        !knowsNames && rules.secret.isEmpty && secretMembers.isEmpty && rules.secretPaths.isEmpty
    }

    /// Returns the headers with secret values replaced. Order and names are kept. In a field whose value contains a
    /// URL, such as `Location` or `X-Original-URL`, only the secrets of the URL are replaced.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.map { HTTPField(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// Returns the value of a header field with its secrets replaced.
    package func value(_ value: String, ofHeader name: HTTPField.Name) -> String {
        if isSecret(header: name) { return Self.mark }
        return Self.urlHeaders.contains(name) ? url(value) : ordinary(value)
    }

    /// The fields whose values contain URLs. After a sign-in, the URL of a redirect contains a code or a token.
    package static let urlHeaders: Set<HTTPField.Name> = [.location, "Content-Location", .referer, .link, "Refresh"]

    /// Returns the value of a field that is neither secret nor known for URLs, with the secrets of its URLs replaced.
    func ordinary(_ value: String) -> String {
        hidesNothing || !Self.mayHoldURL(value) ? value : url(value)
    }

    /// Returns whether the value of a field of any name may contain a URL, as that of `X-Original-URL` does: it has an
    /// absolute path, an authority, a query with a pair, or an escape as in an encoded URL.
    package static func mayHoldURL(_ value: String) -> Bool {
        var last = UInt8(ascii: ":")
        var isInQuery = false
        return value.firstByte { byte in
            defer { last = byte }
            switch byte {
            case UInt8(ascii: "/"): return last == UInt8(ascii: ":") || last == UInt8(ascii: "/")
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                isInQuery = true
                return false
            case UInt8(ascii: "="): return isInQuery
            case UInt8(ascii: "2"), UInt8(ascii: "3"): return last == UInt8(ascii: "%")
            default: return false
            }
        } != nil
    }

    package func isSecret(header name: HTTPField.Name) -> Bool {
        if rules.secret.contains(name) { return true }
        return knowsNames && (name.isCredential || !rules.harmless.contains(name) && name.isSensitive)
    }

    func isSecret(member name: some StringProtocol) -> Bool {
        isSecret(name, in: .member)
    }

    /// Returns whether the value after `name` is secret.
    func isSecret(_ name: some StringProtocol, in location: SecretName.Location) -> Bool {
        if knowsNames && SecretName.isSecret(Array(name.utf8), in: location) { return true }
        return !secretMembers.isEmpty && secretMembers.contains(SecretName.plain(name))
    }

    /// Returns whether a name before a colon in text is that of a secret field.
    func isSecretField(_ name: String) -> Bool {
        guard name.utf8.contains(UInt8(ascii: "-")) || !rules.secret.isEmpty else { return false }
        return isSecret(header: HTTPField.Name(name))
    }
}
