// SPDX-License-Identifier: MIT

extension Redaction {
    /// Returns the URL with its secrets replaced: secret values in the query, the fragment and path parameters, and the
    /// parts of the path that `Redaction.Rules.secretPaths` match. The userinfo is removed. Names and order are kept.
    /// URLs in values and in lists, as in a `Link` field, are treated in the same way.
    public func url(_ url: String) -> String {
        guard !pathPatterns.isEmpty || url.firstByte(where: Self.mayReveal) != nil else { return url }
        return SecretScanner.redact(url, as: .url, self)
    }

    /// Returns whether a URL with this byte may contain a secret: a pair, userinfo, an escape, a quoted name.
    private static func mayReveal(_ byte: UInt8) -> Bool { "=@%\\\"' ".utf8.contains(byte) }

    /// Returns the redacted text of a URL that cannot be parsed. The end of its userinfo is unknown, so everything
    /// before the last `@` is hidden, except the scheme.
    package func unusable(url text: String) -> String {
        let bytes = text.utf8
        guard !hidesNothing, let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return self.url(text) }
        let remainder = String(Substring(bytes[bytes.index(after: at)...]))
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let slashes = colon.map { bytes[bytes.index(after: $0)...].prefix { $0 == UInt8(ascii: "/") } }
        guard let slashes, !slashes.isEmpty, slashes.endIndex <= at else { return self.url(remainder) }
        return String(Substring(bytes[..<slashes.endIndex])) + Self.mark + "@" + self.url(remainder)
    }

    /// Returns name-value pairs such as `a=1&token=2` with secret values replaced. A secret value extends to the next
    /// `&`.
    package func pairs(_ text: Substring) -> String {
        SecretScanner.redact(String(text), as: .form, self)
    }
}
