// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)

/// A line of the screen: pieces of text that each look like something. No escape sequences; `Painter` makes them.
struct Line: Equatable {
    private(set) var spans: [Span] = []

    struct Span: Equatable {
        fileprivate(set) var text: String
        let style: Style
    }

    enum Style: Equatable {
        case plain, dim, bold, accent, failure, selected
        /// Upper half blocks: two pixels in each column.
        case pixels(top: Pixel, bottom: Pixel)
    }

    init(_ text: String = "", _ style: Style = .plain) {
        append(text, style)
    }

    /// Adds a piece. This is the way of every text to the screen, so here it is made harmless.
    mutating func append(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { spans.append(Span(text: text.printable, style: style)) }
    }

    mutating func append(_ line: Line) {
        spans += line.spans
    }

    var text: String { spans.map(\.text).joined() }
    var columns: Int { spans.reduce(0) { $0 + $1.text.columns } }

    /// The line, cut with a mark if it is too long.
    func fitted(to columns: Int) -> Line {
        guard self.columns > columns else { return self }
        var fitted = Line()
        var left = max(0, columns - 1)
        for span in spans where left > 0 {
            let piece = span.text.prefix(columns: left)
            fitted.spans.append(Span(text: String(piece), style: span.style))
            // What follows a piece that was cut must not fill the rest.
            left = piece.count < span.text.count ? 0 : left - piece.columns
        }
        if columns > 0 { fitted.append("…", fitted.spans.last?.style ?? .plain) }
        return fitted
    }

    /// The line with blanks up to a width.
    func padded(to columns: Int) -> Line {
        var padded = self
        padded.append(String(repeating: " ", count: max(0, columns - self.columns)), spans.last?.style ?? .plain)
        return padded
    }
}
#endif
