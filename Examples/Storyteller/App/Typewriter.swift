// SPDX-License-Identifier: MIT

/// Text that arrives in pieces, as lines of a given width. In a terminal each word shows as soon as it is complete, in a
/// pipe each line.
///
/// A model may send anything, also what a terminal would obey: control characters are left out.
struct Typewriter {
    private let isLive: Bool
    private let width: Int
    private let indent = "    "
    private var line = ""
    private var word = ""

    init(isLive: Bool, width: Int = 76) {
        self.isLive = isLive
        self.width = max(1, width)
    }

    /// Returns what is to be printed now.
    mutating func add(_ piece: String) -> String {
        var output = ""
        for character in piece {
            if character.isNewline {
                output += endWord() + endLine()
            } else if character.isWhitespace {
                output += endWord()
            } else if !character.unicodeScalars.contains(where: \.isHidden) {
                if word.count >= width { output += endWord() }
                word.append(character)
            }
        }
        return output
    }

    /// Returns the rest.
    mutating func end() -> String {
        let rest = endWord()
        return line.isEmpty ? rest : rest + endLine()
    }

    private mutating func endWord() -> String {
        guard !word.isEmpty else { return "" }
        defer { word = "" }
        if line.isEmpty {
            line = word
            return isLive ? indent + word : ""
        }
        guard line.count + 1 + word.count <= width else {
            let output = endLine()
            line = word
            return output + (isLive ? indent + word : "")
        }
        line += " " + word
        return isLive ? " " + word : ""
    }

    private mutating func endLine() -> String {
        defer { line = "" }
        return isLive || line.isEmpty ? "\n" : indent + line + "\n"
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may obey it instead of showing it. A joiner of emoji is shown.
    fileprivate var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        case .format: value != 0x200D
        default: false
        }
    }
}
