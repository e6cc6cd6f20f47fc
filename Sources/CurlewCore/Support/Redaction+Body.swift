// SPDX-License-Identifier: MIT

package import CurlewHTTP

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Redaction {
    /// Returns the redacted text of a body: secret members of JSON, XML, forms and GraphQL are replaced, and values
    /// after a secret name in other text.
    ///
    /// Works on truncated and malformed text: the value after a secret name is replaced up to its end, or the end of
    /// the text.
    package func bodyText(_ text: String, mediaType: MediaType?) -> String {
        if hidesNothing { return text }
        if mediaType?.essence == MediaType.form.essence { return pairs(Substring(text)) }
        let first = text.utf8.first { $0 > 0x20 }
        let isJSON = mediaType?.isJSON ?? (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
        if isJSON { return JSONTextRedactor(redaction: self).redact(text) }
        return self.text(text)
    }

    /// Returns any text redacted, such as the error message of another library.
    package func text(_ text: String) -> String {
        if hidesNothing { return text }
        var text = JSONTextRedactor(redaction: self).redact(text)
        if text.utf8.contains(UInt8(ascii: "<")) { text = MarkupRedactor(redaction: self).redact(text) }
        return words(LabelRedactor(redaction: self).redact(text))
    }

    /// Returns the text with the secrets removed from each term that is a URL, or pairs as in forms.
    func words(_ text: String) -> String {
        guard text.utf8.contains(where: isTelling) else { return text }
        var result = ""
        var rest = Substring(text)
        // Iterates over scalars: a combining mark may form one `Character` with the preceding space, and hide a secret
        // name.
        while !rest.isEmpty {
            let word = Substring(rest.unicodeScalars.prefix { !$0.properties.isWhitespace })
            result += word.utf8.contains(where: isTelling) ? withoutSecrets(word) : word
            rest = rest[word.endIndex...]
            let space = Substring(rest.unicodeScalars.prefix { $0.properties.isWhitespace || Self.isMark($0) })
            result += space
            rest = rest[space.endIndex...]
        }
        return result
    }

    /// Returns whether the scalar is a combining mark, such as an accent. After a space it would hide the name that
    /// follows.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isGraphemeExtend
    }

    /// A term without `=` and `@` has neither pairs nor userinfo, and one without `/` no path.
    func isTelling(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "/") && !pathPatterns.isEmpty
    }

    /// Redacts a part of a text, which may be pairs or a URL.
    func withoutSecrets(_ word: Substring) -> Substring {
        let shown = String(Substring(url("?" + word).utf8.dropFirst()))
        // A path without an origin was treated as pairs after the question mark.
        let isPath = !pathPatterns.isEmpty && shown.utf8.firstRange(of: "://".utf8) == nil
        return Substring(isPath ? url(shown) : shown)
    }

    /// Returns a redacted body for a log or a command line. Returns nil if it is longer than `limit` bytes and `clips`
    /// is false, is not text, or is of a kind whose secrets cannot be recognized (multipart, XML).
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
        if mediaType.subtype == "xml" || mediaType.subtype.ends(with: "+xml") || mediaType.type == "multipart" {
            return hidesNothing
        }
        return mediaType.type == "text" || mediaType.essence == MediaType.jsonLines.essence
            || mediaType.essence == "application/x-ndjson" || mediaType.essence == "application/graphql"
    }

    private static func isBinary(_ byte: UInt8) -> Bool {
        byte < 0x09 || (byte > 0x0D && byte < 0x20) || byte == 0x7F
    }
}
