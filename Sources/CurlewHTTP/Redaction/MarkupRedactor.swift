// SPDX-License-Identifier: MIT

/// Redacts XML, SOAP and HTML: replaces the content of elements, and the values of attributes, whose names are secret.
/// It also handles truncated and malformed text.
///
/// An element is secret if its local name is secret, or the value of its attribute `name`, `key`, `id` or `property`.
/// Its content extends to its closing tag, or to the end of the text. In a secret element, the values of the attributes
/// `value`, `content` and `default` are also replaced.
struct MarkupRedactor {
    let redaction: Redaction

    private static let open = UInt8(ascii: "<")
    private static let close = UInt8(ascii: ">")
    private static let slash = UInt8(ascii: "/")

    func redact(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == Self.open, index + 1 < bytes.count, Self.isNameByte(bytes[index + 1]) else {
                output.append(bytes[index])
                index += 1
                continue
            }
            let tag = Tag(bytes, at: index)
            let isSecret = redaction.isSecret(member: tag.localName) || tag.isNamed { redaction.isSecret(member: $0) }
            output.append(
                contentsOf: tag.shown(without: { name in
                    redaction.isSecret(member: name) || (isSecret || !tag.isClosed) && Tag.values.contains(name)
                }))
            index = tag.end
            guard isSecret, !tag.isEmpty else { continue }
            let content = index
            index = Self.end(ofContentOf: tag.name, bytes, from: index)
            if index > content { output.append(contentsOf: Redaction.mark.utf8) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the start of the closing tag with this name, or the end of the text if there is none.
    private static func end(ofContentOf name: [UInt8], _ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            if bytes[index] == open, bytes[(index + 1)...].first == slash {
                let found = bytes[(index + 2)...].prefix { isNameByte($0) }
                if found.map({ $0 | 0x20 }).elementsEqual(name.map { $0 | 0x20 }) { return index }
            }
            index += 1
        }
        return bytes.count
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte >= 0x80 || "-_.:".utf8.contains(byte)
    }

    /// An opening tag and its attributes.
    private struct Tag {
        /// The attributes that contain the value of a secret element, as in `<input name="token" value="…">`.
        static let values: Set<String> = ["value", "content", "default"]
        private static let void: Set<String> = ["input", "meta", "link", "img", "br", "hr"]
        private static let names: Set<String> = ["name", "key", "id", "property"]

        let name: [UInt8]
        let end: Int
        /// False if the text ends before the tag does.
        let isClosed: Bool
        /// True if the element has no content: it closes itself, or is a void element of HTML.
        let isEmpty: Bool
        private let pieces: [Piece]

        private typealias Piece = (bytes: ArraySlice<UInt8>, attribute: (name: String, value: ArraySlice<UInt8>)?)

        var localName: String {
            String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
        }

        init(_ bytes: [UInt8], at start: Int) {
            name = Array(bytes[(start + 1)...].prefix { MarkupRedactor.isNameByte($0) })
            var index = start + 1 + name.count
            var plain = start
            var found: [Piece] = []
            while index < bytes.count, bytes[index] != MarkupRedactor.close, bytes[index] != MarkupRedactor.open {
                let byte = bytes[index]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    let valueEnd = bytes[(index + 1)...].firstIndex(of: byte) ?? bytes.count
                    Self.add(bytes, plain, index + 1, valueEnd, to: &found)
                    plain = valueEnd
                    index = min(valueEnd + 1, bytes.count)
                } else if byte == UInt8(ascii: "="), let start = Self.unquoted(bytes, after: index) {
                    let valueEnd =
                        bytes[start...].firstIndex { $0 <= 0x20 || $0 == MarkupRedactor.close } ?? bytes.count
                    Self.add(bytes, plain, start, valueEnd, to: &found)
                    plain = valueEnd
                    index = valueEnd
                } else {
                    index += 1
                }
            }
            isClosed = index < bytes.count && bytes[index] == MarkupRedactor.close
            end = isClosed ? index + 1 : index
            let word = String(decoding: name, as: UTF8.self).lowercased()
            isEmpty = Self.void.contains(word) || isClosed && bytes[index - 1] == MarkupRedactor.slash
            found.append((bytes[plain..<end], nil))
            pieces = found
        }

        /// Returns the start of the unquoted value after an equals sign; nil if the value is quoted or missing.
        private static func unquoted(_ bytes: [UInt8], after equals: Int) -> Int? {
            let start = JSONTextRedactor.skipSpace(bytes, from: equals + 1)
            guard start < bytes.count, !"\"'<>".utf8.contains(bytes[start]) else { return nil }
            return start
        }

        /// Adds two pieces: the text from `plain` up to a value, and the attribute with this value.
        private static func add(
            _ bytes: [UInt8], _ plain: Int, _ start: Int, _ end: Int, to pieces: inout [Piece]
        ) {
            let label = bytes[plain..<start].reversed().drop { "=\"'".utf8.contains($0) || $0 <= 0x20 }
                .prefix { MarkupRedactor.isNameByte($0) }.reversed()
            let local = Array(label).split(separator: UInt8(ascii: ":")).last ?? []
            pieces.append((bytes[plain..<start], nil))
            pieces.append(
                (
                    bytes[start..<start],
                    (String(decoding: local, as: UTF8.self).lowercased(), bytes[start..<max(start, end)])
                ))
        }

        /// Returns whether an attribute such as `name` has a value for which `isSecret` returns true.
        func isNamed(_ isSecret: (String) -> Bool) -> Bool {
            pieces.contains { piece in
                guard let attribute = piece.attribute, Self.names.contains(attribute.name) else { return false }
                return isSecret(String(decoding: attribute.value, as: UTF8.self))
            }
        }

        /// Returns the tag, and replaces the value of each attribute for whose name `isSecret` returns true.
        func shown(without isSecret: (String) -> Bool) -> [UInt8] {
            pieces.flatMap { piece -> [UInt8] in
                guard let attribute = piece.attribute else { return Array(piece.bytes) }
                // `key="ApiKey"` names a secret and is not secret itself.
                return isSecret(attribute.name) && !Self.names.contains(attribute.name)
                    ? Array(Redaction.mark.utf8) : Array(attribute.value)
            }
        }
    }
}
