// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension Redaction {
    /// Returns the text of a body with its secrets replaced: the values of secret members in JSON, forms and GraphQL,
    /// and the values after secret names in other text. Markup is left out.
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
    /// from the first tag of markup to the last one is replaced by `<…>`.
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

    /// Returns the text of a body with its secrets replaced, for your own logs: `redaction.body(data, mediaType: type)`.
    /// Returns nil if secrets cannot be recognized in it: in bytes that are not text, in multipart bodies, HTML and XML,
    /// and without a media type in everything but JSON. A redaction that hides nothing returns any text.
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
        guard repairs <= (data.count > limit ? 3 : 0), !text.utf8.contains(where: Self.isBinary) else { return nil }
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

    private static func isBinary(_ byte: UInt8) -> Bool {
        byte < 0x09 || (byte > 0x0D && byte < 0x20) || byte == 0x7F
    }
}
