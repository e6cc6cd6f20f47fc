// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// Decides by name which values are secret, and replaces them. Logs, errors, recordings and curl commands use it.
///
/// `REDACTED` in such a text says that a value was withheld, and does not disclose its length. ``none`` withholds only
/// the userinfo of URLs:
///
///     print(request.curlCommand(redaction: .none))
///
/// In all messages about the calls of a client, the declarations of its `Redaction.Rules` and of its interceptors are
/// added, except to ``none``.
public struct Redaction: Sendable {
    /// Whether the names that Curlew knows are secret, in addition to those of `rules`.
    private let knowsNames: Bool
    private var rules = Redaction.Rules()
    /// The declared members, as `SecretName.plain(_:)` returns them.
    private var secretMembers: Set<String> = []

    /// Hides credentials, cookies, tokens, keys, codes, signatures and passwords under their usual names.
    public static let standard = Redaction(knowsNames: true)

    /// Hides nothing except the userinfo of URLs. Use it to inspect your own traffic, never for stored text.
    public static let none = Redaction(knowsNames: false)

    /// The text that replaces a secret value.
    package static let mark = "REDACTED"

    /// Returns this redaction with the declarations of `rules` added. A field that this redaction or `rules` declare as
    /// secret stays secret, even if the other declares it as harmless. ``none`` with rules hides what they declare, and
    /// the userinfo of URLs.
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
        return Self.urlHeaders.contains(name) || !hidesNothing && Self.mayHoldURL(value) ? url(value) : value
    }

    /// The fields whose values contain URLs. After a sign-in, the URL of a redirect contains a code or a token.
    package static let urlHeaders: Set<HTTPField.Name> = [.location, "Content-Location", .referer, .link, "Refresh"]

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

    /// Returns the text of a body with its secrets replaced: the values of secret members in JSON, forms and GraphQL,
    /// and the values after secret names in other text. HTML, XML, and markup in other text become `<…>`. Without a
    /// media type, text that begins with `{` or `[` is read as JSON.
    ///
    /// The text may be truncated or malformed: the value after a secret name is replaced up to its end, or up to the
    /// end of the text.
    package func bodyText(_ text: String, mediaType: MediaType?) -> String {
        if hidesNothing { return text }
        if Self.isMarkup(mediaType) { return Self.markup }
        if mediaType?.essence == MediaType.form.essence { return pairs(Substring(text)) }
        let first = text.utf8.first { $0 > 0x20 }
        let isJSON = mediaType?.isJSON ?? (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
        return SecretScanner.redact(text, as: isJSON ? .json : .text, self)
    }

    /// Returns text of any kind, such as the error message of another library, with its secrets replaced. Everything
    /// from the first tag of markup to the last one becomes `<…>`. A redaction that hides nothing changes nothing.
    package func text(_ text: String) -> String {
        hidesNothing ? text : SecretScanner.redact(text, as: .text, self)
    }

    /// Returns whether the secrets in bodies of this type can be recognized, as they cannot in HTML and XML.
    package func shows(_ mediaType: MediaType?) -> Bool {
        hidesNothing || !Self.isMarkup(mediaType)
    }

    /// The placeholder for HTML and XML, whose secrets cannot be recognized by their names.
    static let markup = "<…>"

    /// Returns whether bodies of this type are HTML or XML.
    private static func isMarkup(_ mediaType: MediaType?) -> Bool {
        guard let subtype = mediaType?.subtype else { return false }
        return subtype == "html" || subtype == "xml" || subtype.ends(with: "+xml")
    }

    /// Returns the text of a body with its secrets replaced, for your own logs. Returns nil for bytes that are not text
    /// in UTF-8, and for media types other than JSON, JSON lines, forms, GraphQL and `text/…`. Unless the redaction
    /// hides nothing, it also returns nil for HTML, XML, multipart bodies, and bodies that have no media type and are
    /// not JSON, because their secrets cannot be recognized.
    public func body(_ data: Data, mediaType: MediaType?) -> String? {
        shownBody(data, mediaType: mediaType, limit: data.count, clips: false)
    }

    /// Returns the redacted text of a body for a log or a command line. A body with more than `limit` bytes is
    /// truncated and ends with an ellipsis if `clips` is true. Returns nil if the body cannot be shown:
    ///
    /// - it has more than `limit` bytes, and `clips` is false
    /// - its media type or its bytes are not those of text
    /// - it is multipart, HTML, XML, or has no media type and is not JSON, so its secrets cannot be recognized. It is
    ///   shown if the redaction hides nothing.
    package func shownBody(_ data: Data, mediaType: MediaType?, limit: Int, clips: Bool) -> String? {
        guard data.count <= limit || clips, isLegible(mediaType, data) else { return nil }
        let text = String(decoding: data.prefix(limit), as: UTF8.self)
        // A character that the limit cuts in two decodes to a replacement character. Any other replacement means that
        // the body is not text.
        let repairs = text.unicodeScalars.filter { $0 == "\u{FFFD}" }.count
        guard repairs <= (data.count > limit ? 3 : 0), !Self.isBinary(text) else { return nil }
        return bodyText(text, mediaType: mediaType) + (data.count > limit ? "…" : "")
    }

    private func isLegible(_ mediaType: MediaType?, _ data: Data) -> Bool {
        guard let mediaType else {
            let first = data.first { !(0x09...0x0D).contains($0) && $0 != 0x20 }
            return hidesNothing || first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        }
        if mediaType.isJSON || mediaType.essence == MediaType.form.essence { return true }
        if Self.isMarkup(mediaType) || mediaType.type == "multipart" { return hidesNothing }
        return mediaType.type == "text" || mediaType.essence == MediaType.jsonLines.essence
            || mediaType.essence == "application/x-ndjson" || mediaType.essence == "application/graphql"
    }

    private static func isBinary(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x09 || ($0 > 0x0D && $0 < 0x20) || $0 == 0x7F }
    }
}

/// A type whose dump shows its description and none of its members, which may be secret.
package protocol MirroredByDescription: CustomStringConvertible, CustomReflectable {}

extension MirroredByDescription {
    /// A mirror that shows only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
