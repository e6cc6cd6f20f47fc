// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewUI

struct Size: Equatable {
    var columns, rows: Int
}

/// Everything that is to be seen, as a value: with a size it gives lines, and nothing else takes part.
struct Screen {
    /// What belongs to the content of a screen, above its lines and below.
    struct Surroundings {
        var title: String
        var activity = Activity.none
        var hint: String
    }

    enum Activity: Equatable {
        case none
        /// The number turns the wheel.
        case loading(Int)
        case failed(message: String, suggestion: String?)
    }

    enum Content {
        /// Nil while there is none.
        case list([Question]?, selected: Int)
        case question(Question, Portrait)
    }

    enum Portrait {
        case expected, none
        case here(Picture)
    }

    var surroundings: Surroundings
    var content: Content
    /// The first line of the content that is shown.
    var scroll = 0

    /// Exactly as many lines as there are rows, none wider than the columns. Moves `scroll` to where it makes sense.
    mutating func lines(in size: Size) -> [Line] {
        let status = surroundings.activity.lines(columns: size.columns)
        let frame = Frame(rows: size.rows, status: status.count)
        let body = content.lines(in: size)
        if let focus = body.focus {
            scroll = min(scroll, focus.lowerBound)
            scroll = max(scroll, min(focus.lowerBound, focus.upperBound - frame.body))
        }
        scroll = max(0, min(scroll, body.lines.count - frame.body))
        var shown = Array(body.lines.dropFirst(scroll).prefix(frame.body))
        shown += Array(repeating: Line(), count: frame.body - shown.count)

        var lines: [Line] = []
        if frame.hasTitle { lines.append(Line(" " + surroundings.title, .selected).padded(to: size.columns)) }
        lines += shown
        lines += status.prefix(frame.status)
        if frame.hasHint { lines.append(Line(" " + surroundings.hint, .dim)) }
        return lines.map { $0.fitted(to: size.columns) }
    }

    /// How many rows the content gets in a terminal of this many.
    static func bodyRows(of rows: Int) -> Int { Frame(rows: rows, status: 1).body }

    /// What has to go when there is little room: first the hint, then the title, then the status.
    private struct Frame {
        let hasTitle, hasHint: Bool
        let status, body: Int

        init(rows: Int, status wanted: Int) {
            hasTitle = rows >= 4
            hasHint = rows >= 6
            status = min(wanted, rows / 4 + (rows >= 2 ? 1 : 0))
            body = max(0, rows - status - [hasTitle, hasHint].filter { $0 }.count)
        }
    }
}

extension Screen.Portrait {
    @MainActor
    init(_ avatar: Loadable<Data>) {
        if let data = avatar.value {
            self = data.isEmpty ? .none : .here(Picture(data))
        } else {
            self = avatar.error == nil ? .expected : .none
        }
    }
}

extension Screen.Activity {
    init(isLoading: Bool, error: NetworkError?, turn: Int) {
        if isLoading {
            self = .loading(turn)
        } else if let error {
            self = .failed(message: error.message, suggestion: error.recoverySuggestion)
        } else {
            self = .none
        }
    }

    /// One line at least, so that the content does not jump.
    fileprivate func lines(columns: Int) -> [Line] {
        switch self {
        case .none: return [Line()]
        case .loading(let turn): return [Line(" \(Self.wheel[abs(turn) % Self.wheel.count]) Loading …", .accent)]
        case .failed(let message, let suggestion):
            let text = ["✗ " + message, suggestion, "(r)"].compactMap(\.self).joined(separator: " ")
            return text.wrapped(to: max(1, columns - 1)).map { Line(" " + $0, .failure) }
        }
    }

    private static let wheel = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
}
#endif
