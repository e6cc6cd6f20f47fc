// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Quotes text as a single word for a POSIX shell.
///
/// The text is processed as Unicode scalars, because the shell reads bytes: in Swift, a quote with a combining mark is
/// a different `Character`.
package enum ShellWord {
    /// Returns a word that a shell reads back as exactly `text`; nil if `text` contains a NUL, because no argument can
    /// contain one.
    ///
    /// Most text is in single quotes, where only the single quote is special. Characters that affect a terminal or a
    /// line editor when the word is shown or pasted are written by `printf` in octal:
    /// - control characters: ESC can end a paste, and a tab can complete a file name and close the quote
    /// - direction marks
    /// - `!` and `^` after a line break, where some shells expand history even inside quotes
    ///
    /// Line breaks are written as they are, because the command substitution around `printf` drops trailing ones.
    package static func quoted(_ text: String) -> String? {
        guard !text.isEmpty else { return "''" }
        var writer = Writer()
        var hasLineBreak = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": return nil
            case "'": writer.enter(.plain, "\\'")
            case "!" where hasLineBreak, "^" where hasLineBreak: writer.octal(scalar)
            case _ where scalar != "\n" && isActive(scalar): writer.octal(scalar)
            default: writer.quote(scalar)
            }
            if scalar == "\n" { hasLineBreak = true }
        }
        return writer.finished()
    }

    /// Returns whether the scalar is a control character, a line separator, or a mark that changes the direction or
    /// position of text.
    private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private struct Writer {
        enum Part { case plain, quoted, printed }

        private var word = ""
        private var part = Part.plain

        mutating func quote(_ scalar: Unicode.Scalar) {
            enter(.quoted, "")
            word.unicodeScalars.append(scalar)
        }

        mutating func octal(_ scalar: Unicode.Scalar) {
            enter(.printed, "")
            for byte in String(scalar).utf8 {
                let digits = String(byte, radix: 8)
                word += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
            }
        }

        /// Adds `text` to a part of the kind `next`. If the current part is of another kind, ends it and begins a new
        /// one.
        mutating func enter(_ next: Part, _ text: String) {
            if next != part {
                switch part {
                case .plain: break
                case .quoted: word += "'"
                case .printed: word += "')\""
                }
                switch next {
                case .plain: break
                case .quoted: word += "'"
                case .printed: word += "\"$(printf '"
                }
                part = next
            }
            word += text
        }

        mutating func finished() -> String {
            enter(.plain, "")
            return word
        }
    }
}
