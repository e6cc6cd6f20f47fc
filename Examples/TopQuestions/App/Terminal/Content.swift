// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)

extension Screen.Content {
    /// All lines of the content, and those that have to be seen.
    func lines(in size: Size) -> (lines: [Line], focus: Range<Int>?) {
        switch self {
        case .list(let questions, let selected): Self.list(questions, selected)
        case .question(let question, let portrait): (Self.question(question, portrait, size), nil)
        }
    }

    /// Two lines for each question.
    private static func list(_ questions: [Question]?, _ selected: Int) -> ([Line], Range<Int>?) {
        guard let questions else { return ([], nil) }
        if questions.isEmpty { return ([Line(" No questions.", .dim)], nil) }
        let lines = questions.enumerated().flatMap { index, question in
            let isSelected = index == selected
            let score = question.score.shortened
            let room = String(repeating: " ", count: max(0, 5 - score.count))
            var title = Line((isSelected ? "▸" : " ") + room + score + "  ", .accent)
            title.append(question.plainTitle, isSelected ? .selected : .bold)
            let tags = question.tags.joined(separator: ", ")
            return [title, Line("        \(question.facts) · \(tags)", .dim)]
        }
        let focus = questions.indices.contains(selected) ? 2 * selected..<2 * selected + 2 : nil
        return (lines, focus)
    }

    private static func question(_ question: Question, _ portrait: Screen.Portrait, _ size: Size) -> [Line] {
        let width = max(1, size.columns - 2)
        var lines = question.plainTitle.wrapped(to: width).map { Line(" " + $0, .bold) }
        lines.append(Line(" \(question.score.of("vote")) · \(question.facts)", .dim))
        lines.append(Line(" " + question.tags.joined(separator: ", "), .accent))
        lines.append(Line())
        if let body = question.plainBody {
            lines += body.wrapped(to: width).map { $0.isEmpty ? Line() : Line(" " + $0) }
            lines.append(Line())
        }
        return lines + card(question.owner, portrait, size)
    }

    /// Who asked, beside the picture if there is room for it.
    private static func card(_ owner: Question.Owner, _ portrait: Screen.Portrait, _ size: Size) -> [Line] {
        let about: String
        var picture: [Line] = []
        switch portrait {
        case .expected: about = "…"
        case .none: about = ""
        case .here(let here):
            about = here.about
            if size.columns >= 40, size.rows >= 12 { picture = here.lines(columns: 16) }
        }
        let texts = [Line(owner.plainName, .bold), Line(owner.standing, .dim), Line(about, .dim)]
        let height = max(texts.count, picture.count)
        return (0..<height).map { row in
            var line = Line(" ")
            if row < picture.count {
                line.append(picture[row])
                line.append("  ")
            }
            if row < texts.count { line.append(texts[row]) }
            return line
        }
    }
}
#endif
