// SPDX-License-Identifier: MIT

/// Replaces the values of secret members in JSON text, which need not be complete or valid.
///
/// A log or an error excerpt is often truncated. A JSON parser would fail on it, so this type makes one pass over the
/// bytes instead. It replaces the value after a quoted secret name and a colon: a string up to its closing quote, a
/// container up to its closing bracket, a scalar up to the next separator. Other strings are kept, except for secrets
/// in URLs and in embedded text with names and values: JSON, GraphQL, fields of a message.
struct JSONTextRedactor {
    var redaction: Redaction
    /// The number of JSON texts in which this text is embedded as a string.
    var depth = 0

    /// The maximum depth of embedded text. Deeper text with names and values is replaced completely.
    private static let deepest = 4

    func redact(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == Self.quote else {
                output.append(bytes[index])
                index += 1
                continue
            }
            let end = Self.endOfString(bytes, from: index)
            let string = bytes[index..<end]
            index = end
            var value = Self.skipSpace(bytes, from: end)
            let isName = value < bytes.count && bytes[value] == UInt8(ascii: ":")
            guard isName, redaction.isSecret(member: name(string)) else {
                output.append(contentsOf: redactInner(string, isName: isName))
                continue
            }
            value = Self.skipSpace(bytes, from: value + 1)
            output.append(contentsOf: string)
            output.append(contentsOf: bytes[end..<value])
            output.append(contentsOf: "\"\(Redaction.mark)\"".utf8)
            index = Self.endOfValue(bytes, from: value)
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// Returns the name between the quotes, with escapes such as `\u0070` decoded.
    private func name(_ string: ArraySlice<UInt8>) -> String {
        JSONStringText.read(string.dropFirst().dropLast())
    }

    /// Returns a string with the secrets in its text replaced: values after secret names, and secrets in URLs. Escapes
    /// are decoded first, because some encoders escape `&`, `=` and `/`. A string without secrets is returned
    /// unchanged.
    private func redactInner(_ string: ArraySlice<UInt8>, isName: Bool) -> ArraySlice<UInt8> {
        let isClosed = string.count > 1 && string.last == Self.quote
        let text = JSONStringText.read(isClosed ? string.dropFirst().dropLast() : string.dropFirst())
        var shown = text
        if !isName, text.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "<") || $0 == 0x20 }) {
            guard depth < Self.deepest else { return ArraySlice("\"\(Redaction.mark)\"".utf8) }
            if shown.utf8.contains(Self.quote) {
                shown = JSONTextRedactor(redaction: redaction, depth: depth + 1).redact(shown)
            }
            shown = LabelRedactor(redaction: redaction).redact(Redaction.withoutMarkup(shown))
        }
        if shown.utf8.contains(where: redaction.mayRevealSecret), holdsURL(shown) {
            // Each URL first and then the complete text, because the value of a pair may contain spaces.
            shown = String(redaction.withoutSecrets(redaction.words(shown)[...]))
        }
        guard !shown.utf8.elementsEqual(text.utf8) else { return string }
        return [Self.quote] + JSONStringText.written(shown) + (isClosed ? [Self.quote] : [])
    }

    private func holdsURL(_ text: String) -> Bool {
        text.utf8.contains(where: { "?#&".utf8.contains($0) }) || !redaction.pathPatterns.isEmpty
            || text.utf8.firstRange(of: "://".utf8) != nil
    }

    static func skipSpace(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] == 0x20 || (bytes[index] >= 0x09 && bytes[index] <= 0x0D) { index += 1 }
        return index
    }

    /// Returns the index after the closing quote of the string that opens at `start`, or the end of the text.
    static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case Self.backslash: index += 2
            case Self.quote: return index + 1
            default: index += 1
            }
        }
        return bytes.count
    }

    static func endOfValue(_ bytes: [UInt8], from start: Int) -> Int {
        guard start < bytes.count else { return start }
        if bytes[start] == Self.quote { return Self.endOfString(bytes, from: start) }
        var depth = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case Self.quote:
                index = Self.endOfString(bytes, from: index)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth <= 1 { return depth == 1 ? index + 1 : index }
                depth -= 1
            case UInt8(ascii: ","):
                if depth == 0 { return index }
            default:
                break
            }
            index += 1
        }
        return bytes.count
    }
}
