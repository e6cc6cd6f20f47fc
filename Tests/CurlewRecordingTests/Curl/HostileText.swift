// SPDX-License-Identifier: MIT

/// Random text of what means something to a shell, a terminal, or Unicode's rules for characters.
enum HostileText {
    private static let pieces = [
        "'", "'", "'", "\"", "\\", "$HOME", "$(echo x)", "`echo x`", "${x}", "!", "!!", "^", "\n", "\n", " ", ";", "&",
        "|", ">", "<", "*", "?", "#", "~", "(", ")", "{", "}", "[", "]", "%s", "%", "%%", "-", "--data", "@", "=", ":",
        "\\n", "\\0", "\\041", "'\\''", "$'\\x27'", "é", "e\u{301}", "𝄞", "a", "Z9", "\u{301}", "\u{301}\u{301}",
        "\u{20E3}", "\u{200D}", "\u{FE0F}", "\u{FE0E}", "\u{600}", "\u{110BD}", "\u{1F468}\u{200D}\u{1F469}",
        "\u{1F1E9}", "\u{1F1EA}", "\u{1F3FD}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{93F}", "\u{E33}",
        "\u{FEFF}", "\u{FFFD}",
    ]
    /// What is written in octal, which costs a shell a process each.
    private static let active = [
        "\r\n", "\r", "\t", "\u{1B}[201~", "\u{7F}", "\u{85}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{2028}", "\n!",
    ]

    /// Up to `count` pieces; one in `rarity` is active. Leaves out the scalars of `excluded`.
    static func make(
        _ random: inout SeededGenerator, pieces count: Int = 12, rarity: Int = 40, without excluded: String = ""
    ) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...count, using: &random) {
            let isActive = Int.random(in: 0..<rarity, using: &random) == 0
            text += (isActive ? active : pieces).randomElement(using: &random) ?? ""
        }
        guard !excluded.isEmpty else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.filter { !excluded.unicodeScalars.contains($0) }))
    }
}
