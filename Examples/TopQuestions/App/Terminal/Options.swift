// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)

/// What the command line asks for.
struct Options: Equatable {
    var isLive = false
    var isSlow = false
    var wantsHelp = false
    var tag: String?

    /// Nil if there is a word that means nothing here.
    init?(_ arguments: some Sequence<String>) {
        var words = Array(arguments)[...]
        while let word = words.popFirst() {
            switch word {
            case "--live": isLive = true
            case "--slow": isSlow = true
            case "--help", "-h": wantsHelp = true
            case "--tag":
                guard let tag = words.popFirst(), !tag.isEmpty, !tag.hasPrefix("-") else { return nil }
                self.tag = tag
            default: return nil
            }
        }
        // The real service is as slow as it is.
        if isLive, isSlow { return nil }
    }

    static let usage = """
        TopQuestions [--live | --slow] [--tag TAG]

        Reads questions and who asked them, from a server inside this program.
            --live      from api.stackexchange.com instead
            --slow      from a server that takes 1.5 s for each answer, to see how loading looks
            --tag TAG   only questions about this, for example swiftui

        In a terminal: arrows or j and k move, Enter opens, Escape or b goes back, r loads again, q ends, and f lets
        the next call fail, to see how that looks. Without one it prints the list and the first question.
        """
}
#endif
