// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension Redaction {
    /// Returns the text of a body with its secrets replaced: the values of secret members in JSON, forms and GraphQL,
    /// and the values after secret names in other text. Markup is left out, see `withoutMarkup(_:)`.
    ///
    /// The text may be truncated or malformed: the value after a secret name is replaced up to its end, or up to the
    /// end of the text.
    package func bodyText(_ text: String, mediaType: MediaType?) -> String {
        if hidesNothing { return text }
        if Self.isMarkup(mediaType) { return Self.markup }
        if mediaType?.essence == MediaType.form.essence { return pairs(Substring(text)) }
        let first = text.utf8.first { $0 > 0x20 }
        let isJSON = mediaType?.isJSON ?? (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
        if isJSON { return JSONTextRedactor(redaction: self).redact(text) }
        return self.text(text)
    }

    /// Returns text of any kind, such as the error message of another library, with its secrets replaced.
    package func text(_ text: String) -> String {
        if hidesNothing { return text }
        let plain = Self.withoutMarkup(JSONTextRedactor(redaction: self).redact(text))
        return words(LabelRedactor(redaction: self).redact(plain))
    }

    /// Returns whether the secrets in bodies of this type can be recognized, as they cannot in HTML and XML.
    package func shows(_ mediaType: MediaType?) -> Bool {
        hidesNothing || !Self.isMarkup(mediaType)
    }

    /// What stands for HTML and XML, whose secrets cannot be recognized by their names.
    private static let markup = "<…>"

    /// Returns whether bodies of this type are HTML or XML.
    private static func isMarkup(_ mediaType: MediaType?) -> Bool {
        guard let subtype = mediaType?.subtype else { return false }
        return subtype == "html" || subtype == "xml" || subtype.ends(with: "+xml")
    }

    /// Returns the text with everything between the first tag and the last one replaced by `<…>`. A name directly before
    /// a bracket is that of a generic type, as in `Array<Int>`, unless the text has a closing tag.
    static func withoutMarkup(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "<")) else { return text }
        let hasClosingTag = bytes.firstRange(of: Array("</".utf8)) != nil
        let start = bytes.indices.first { index in
            guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count else { return false }
            let isTag = (bytes[index + 1] | 0x20) &- 0x61 < 26 || "/!?".utf8.contains(bytes[index + 1])
            return isTag && (hasClosingTag || index == 0 || !isNameByte(bytes[index - 1]))
        }
        guard let start else { return text }
        let end = bytes[start...].lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
        // Text after an opening tag is its content, which a limit may have cut off.
        let rest = hasClosingTag ? bytes[end...] : []
        return String(decoding: bytes[..<start], as: UTF8.self) + markup + String(decoding: rest, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_")
    }

    /// Returns the text with secrets replaced in each word that is a URL, or name-value pairs as in a form.
    func words(_ text: String) -> String {
        guard text.utf8.contains(where: mayRevealSecret) else { return text }
        var result = ""
        var rest = Substring(text)
        // Iterates over scalars: a combining mark may form one `Character` with the preceding space, and hide a secret
        // name.
        while !rest.isEmpty {
            let word = Substring(rest.unicodeScalars.prefix { !$0.properties.isWhitespace })
            result += word.utf8.contains(where: mayRevealSecret) ? withoutSecrets(word) : word
            rest = rest[word.endIndex...]
            let space = Substring(rest.unicodeScalars.prefix { $0.properties.isWhitespace || Self.isMark($0) })
            result += space
            rest = rest[space.endIndex...]
        }
        return result
    }

    /// Returns whether the scalar is a combining mark, such as an accent. After a space, such a mark would hide the
    /// name that follows.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isGraphemeExtend
    }

    /// Returns whether a word with this byte may contain a secret. A word without `=` and `@` has neither pairs nor
    /// userinfo, and a word without `/` has no path.
    func mayRevealSecret(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "/") && !pathPatterns.isEmpty
    }

    /// Returns part of a text with its secrets replaced. The part may be name-value pairs or a URL.
    func withoutSecrets(_ word: Substring) -> Substring {
        let shown = String(Substring(url("?" + word).utf8.dropFirst()))
        // A path without an origin was treated as pairs after the question mark.
        let isPath = !pathPatterns.isEmpty && shown.utf8.firstRange(of: "://".utf8) == nil
        return Substring(isPath ? url(shown) : shown)
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
