// SPDX-License-Identifier: MIT

/// Splits a command for a POSIX shell into words, as far as curl commands need it: quotes, escapes, `$'…'`, line
/// continuations and comments. Nothing is expanded: a variable or a command substitution is refused.
struct ShellWords {
    private var scalars: Substring.UnicodeScalarView
    private var words: [String] = []
    private var word: [UInt8]?

    /// Returns the words of the first command. Throws for text that a shell would expand or execute otherwise.
    static func split(_ text: String) throws(UsageError) -> [String] {
        var splitter = ShellWords(text)
        try splitter.run()
        return splitter.words
    }

    private init(_ text: String) { scalars = text.unicodeScalars[...] }

    private mutating func append(_ scalar: Unicode.Scalar) {
        word = word ?? []
        word?.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private mutating func end() throws(UsageError) {
        guard let word else { return }
        let text = String(decoding: word, as: UTF8.self)
        guard text.utf8.elementsEqual(word) else {
            throw UsageError(
                "The curl command has bytes that are not UTF-8.", "Write them into a file: --data-binary @file.")
        }
        words.append(text)
        self.word = nil
    }

    private mutating func run() throws(UsageError) {
        while let scalar = scalars.popFirst() {
            switch scalar {
            case " ", "\t", "\r": try end()
            case "\n": if word != nil || !words.isEmpty { return try end() }
            case "#" where word == nil: while let next = scalars.first, next != "\n" { scalars = scalars.dropFirst() }
            case "\\":
                guard let next = scalars.popFirst() else { throw Self.problem("It ends with a backslash.") }
                if next == "\r", scalars.first == "\n" {
                    scalars = scalars.dropFirst()
                } else if next != "\n" {
                    append(next)
                }
            case "'":
                word = word ?? []
                try quoted("'") { splitter, next throws(UsageError) in splitter.append(next) }
            case "\"":
                word = word ?? []
                try quoted("\"") { splitter, next throws(UsageError) in try splitter.insideQuotes(next) }
            case "$" where scalars.first == "'":
                scalars = scalars.dropFirst()
                word = word ?? []
                try quoted("'") { splitter, next throws(UsageError) in
                    if next == "\\" { try splitter.escape() } else { splitter.append(next) }
                }
            case "$" where Self.isExpansion(scalars.first), "`":
                throw Self.problem("The shell would expand \(scalar == "`" ? "`…`" : "$…").")
            case ";", "|", "&", ">", "<", "(", ")":
                throw Self.problem("It has the operator \(scalar) outside of quotes.")
            default: append(scalar)
            }
        }
        try end()
    }

    private mutating func quoted(
        _ mark: Unicode.Scalar, _ body: (inout ShellWords, Unicode.Scalar) throws(UsageError) -> Void
    ) throws(UsageError) {
        while let next = scalars.popFirst() {
            if next == mark { return }
            try body(&self, next)
        }
        throw Self.problem("A quote is not closed.")
    }

    private mutating func insideQuotes(_ scalar: Unicode.Scalar) throws(UsageError) {
        switch scalar {
        case "\\":
            guard let next = scalars.popFirst() else { return }
            if next == "\n" { return }
            if !"\\\"$`".unicodeScalars.contains(next) { append("\\") }
            append(next)
        case "$" where Self.isExpansion(scalars.first), "`":
            throw Self.problem("The shell would expand text in quotes.")
        default: append(scalar)
        }
    }

    private static func isExpansion(_ next: Unicode.Scalar?) -> Bool {
        guard let next else { return false }
        return "({_?$!@*#-".unicodeScalars.contains(next) || next.properties.isAlphabetic || ("0"..."9").contains(next)
    }

    /// Reads an escape of `$'…'`.
    private mutating func escape() throws(UsageError) {
        guard let scalar = scalars.popFirst() else { throw Self.problem("A quote is not closed.") }
        switch scalar {
        case "n": append("\n")
        case "r": append("\r")
        case "t": append("\t")
        case "a": append("\u{7}")
        case "b": append("\u{8}")
        case "e", "E": append("\u{1B}")
        case "f": append("\u{C}")
        case "v": append("\u{B}")
        // These two are bytes, of which several can be one character.
        case "x": appendByte(number(16, most: 2))
        case "0"..."7":
            scalars.insert(scalar, at: scalars.startIndex)
            appendByte(number(8, most: 3))
        case "u": append(Unicode.Scalar(number(16, most: 4)) ?? "\u{FFFD}")
        case "U": append(Unicode.Scalar(number(16, most: 8)) ?? "\u{FFFD}")
        case "\\", "'", "\"", "?": append(scalar)
        default:
            append("\\")
            append(scalar)
        }
    }

    private mutating func appendByte(_ value: UInt32) {
        word = word ?? []
        word?.append(UInt8(truncatingIfNeeded: value))
    }

    private mutating func number(_ radix: Int, most: Int) -> UInt32 {
        var value: UInt32 = 0
        var count = 0
        while count < most, let next = scalars.first, let digit = Character(next).hexDigitValue, digit < radix {
            value = value &* UInt32(radix) &+ UInt32(digit)
            scalars = scalars.dropFirst()
            count += 1
        }
        return value
    }

    private static func problem(_ text: String) -> UsageError {
        UsageError("The curl command cannot be read. \(text)", "Quote the text, or give the words as arguments.")
    }
}
