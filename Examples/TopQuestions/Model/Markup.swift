// SPDX-License-Identifier: MIT

extension String {
    /// What people read of HTML: paragraphs and list items on lines of their own, code as it stands, entities as the
    /// characters that they mean. No browser: meant for the little that questions are written in.
    var withoutMarkup: String {
        guard contains(where: { $0 == "<" || $0 == "&" || $0.isNewline }) else { return self }
        var reader = MarkupReader()
        reader.read(self[...])
        return reader.text
    }
}

private struct MarkupReader {
    private(set) var text = ""
    /// What separates the next character from the text so far: line breaks, two for a paragraph, or a blank.
    private var breaks = 0
    private var isGap = false
    private var isPreformatted = false

    mutating func read(_ html: Substring) {
        var rest = html
        let lastTag = html.lastIndex(of: ">")
        while let first = rest.first {
            if first == "<", let lastTag, rest.startIndex < lastTag, let end = rest.firstIndex(of: ">") {
                read(tag: rest[..<end].dropFirst())
                rest = rest[end...].dropFirst()
            } else if first == "&", let end = rest.prefix(12).firstIndex(of: ";"),
                let character = Self.character(rest[..<end].dropFirst())
            {
                put(character)
                rest = rest[end...].dropFirst()
            } else {
                read(first)
                rest.removeFirst()
            }
        }
    }

    private mutating func read(_ character: Character) {
        if character.isNewline, isPreformatted {
            breaks = min(breaks + 1, 2)
        } else if character.isWhitespace, !isPreformatted {
            isGap = true
        } else {
            put(character)
        }
    }

    private mutating func put(_ character: Character) {
        if !text.isEmpty {
            if breaks > 0 { text += String(repeating: "\n", count: breaks) } else if isGap { text += " " }
        }
        breaks = 0
        isGap = false
        text.append(character)
    }

    private mutating func read(tag: Substring) {
        let isClosing = tag.first == "/"
        switch tag.drop(while: { $0 == "/" }).prefix(while: { $0.isLetter || $0.isNumber }).lowercased() {
        case "pre":
            isPreformatted = !isClosing
            breaks = 2
        case "p", "ul", "ol", "blockquote", "h1", "h2", "h3", "hr", "div": breaks = 2
        case "br": breaks = min(breaks + 1, 2)
        case "li" where !isClosing:
            breaks = max(breaks, 1)
            put("•")
            isGap = true
        default: break
        }
    }

    private static func character(_ entity: Substring) -> Character? {
        if let named = names[String(entity)] { return named }
        guard entity.first == "#" else { return nil }
        let digits = entity.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let code = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return code.flatMap(Unicode.Scalar.init).map(Character.init)
    }

    private static let names: [String: Character] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "hellip": "…", "ndash": "–",
        "mdash": "—", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
    ]
}
