// SPDX-License-Identifier: MIT

package import CurlewHTTP

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Redaction {
    /// Text of a body as it may be shown: secret members of JSON, XML, forms and GraphQL are replaced, and what other
    /// text says under a secret name.
    ///
    /// Works on text that is cut off or malformed too: what follows a secret name is replaced up to where its value
    /// ends, or the end of the text.
    package func bodyText(_ text: String, mediaType: MediaType?) -> String {
        if hidesNothing { return text }
        if mediaType?.essence == MediaType.form.essence { return pairs(Substring(text)) }
        let first = text.utf8.first { $0 > 0x20 }
        let isJSON = mediaType?.isJSON ?? (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
        if isJSON { return JSONTextRedactor(redaction: self).redact(text) }
        return self.text(text)
    }

    /// Any text, such as what another library says in its error.
    package func text(_ text: String) -> String {
        if hidesNothing { return text }
        var text = JSONTextRedactor(redaction: self).redact(text)
        if text.utf8.contains(UInt8(ascii: "<")) { text = MarkupRedactor(redaction: self).redact(text) }
        return words(LabelRedactor(redaction: self).redact(text))
    }

    /// Text in which every word that is a URL, or pairs as forms have them, loses its secrets.
    func words(_ text: String) -> String {
        guard text.utf8.contains(where: isTelling) else { return text }
        var result = ""
        var rest = Substring(text)
        // By scalars: a sign may take the space behind it into one `Character`, and the name of a secret with it.
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

    /// A scalar that is no sign of its own, such as an accent. Behind a space it would hide the name that follows.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isGraphemeExtend
    }

    /// A word without `=` and `@` has neither pairs nor userinfo, and one without `/` no path.
    func isTelling(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "/") && !pathPatterns.isEmpty
    }

    /// A part of a text, which may be pairs or a URL.
    func withoutSecrets(_ word: Substring) -> Substring {
        let shown = String(Substring(url("?" + word).utf8.dropFirst()))
        // Behind the question mark a path without an origin was taken for pairs.
        let isPath = !pathPatterns.isEmpty && shown.utf8.firstRange(of: "://".utf8) == nil
        return Substring(isPath ? url(shown) : shown)
    }

    /// A body for a log or a command line, or nil when it is not to be shown: it is longer than `limit` bytes and
    /// `clips` is false, is not text, or is of a kind whose secrets cannot be recognised (multipart, XML).
    package func shownBody(_ data: Data, mediaType: MediaType?, limit: Int, clips: Bool) -> String? {
        guard data.count <= limit || clips, isLegible(mediaType, data) else { return nil }
        let text = String(decoding: data.prefix(limit), as: UTF8.self)
        // A character that the limit cuts in two decodes to a replacement; any other one means that this is no text.
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
