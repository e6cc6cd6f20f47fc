// SPDX-License-Identifier: MIT

import Foundation

/// One diagram: lines over seconds.
struct Panel {
    struct Line {
        let name: String
        let colour: String
        let value: (Int) -> Double

        init(_ strategy: Strategy, _ value: @escaping (Int) -> Double) {
            (name, colour, self.value) = (strategy.name, strategy.colour, value)
        }
    }

    let title: String
    let ordinate: String
    /// The largest value shown.
    let top: Double
    /// The seconds in which something is wrong.
    let shaded: Range<Int>
    let mark: (value: Double, name: String)?
    let lines: [Line]
    let length: Int
    var start = 40
}

/// Panels one above the other as SVG: dark on light, and readable without its colours, by dashes.
struct Plot {
    let panels: [Panel]

    private static let (width, height, left, right) = (760.0, 250.0, 64.0, 20.0)
    private static let (head, foot, gap) = (84.0, 46.0, 36.0)
    private static let dashes = ["2 3", "8 3 2 3", "6 3", "", "12 3"]

    var svg: String {
        let step = Self.height + Self.foot + Self.gap
        let total = Self.head + Double(panels.count) * step
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(Self.width))" height="\(Int(total))" \
            viewBox="0 0 \(Int(Self.width)) \(Int(total))" font-family="Helvetica, Arial, sans-serif" font-size="12" \
            fill="#111827">
            <rect width="100%" height="100%" fill="#ffffff"/>

            """
        text += legend
        for (number, panel) in panels.enumerated() {
            text += draw(panel, at: Self.head + Self.gap - 8 + Double(number) * step)
        }
        return text + "</svg>\n"
    }

    private var legend: String {
        guard let lines = panels.first?.lines else { return "" }
        return lines.enumerated().map { number, line in
            let (x, y) = (Self.left + Double(number % 2) * 330, 22 + Double(number / 2) * 20)
            return """
                <line x1="\(x)" y1="\(y)" x2="\(x + 36)" y2="\(y)" \(stroke(number, line))/>
                <text x="\(x + 44)" y="\(y + 4)">\(line.name)</text>

                """
        }.joined()
    }

    private func stroke(_ number: Int, _ line: Panel.Line) -> String {
        let dash = Self.dashes[number % Self.dashes.count]
        return "stroke=\"\(line.colour)\" stroke-width=\"2\" fill=\"none\""
            + (dash.isEmpty ? "" : " stroke-dasharray=\"\(dash)\"")
    }

    private func draw(_ panel: Panel, at y0: Double) -> String {
        let span = Double(panel.length - panel.start)
        func x(_ second: Int) -> Double {
            Self.left + (Self.width - Self.left - Self.right) * Double(second - panel.start) / span
        }
        func y(_ value: Double) -> Double { y0 + Self.height * (1 - min(max(0, value), panel.top) / panel.top) }
        let (bottom, end) = (y(0), x(panel.length))
        var text = "<text x=\"\(Self.left)\" y=\"\(y0 - 12)\" font-weight=\"bold\">\(panel.title)</text>\n"
        let (from, to) = (x(max(panel.start, panel.shaded.lowerBound)), x(min(panel.length, panel.shaded.upperBound)))
        text += rect(from, y0, to - from, Self.height, "#f3f4f6")
        for tick in ticks(panel.top) {
            text += "<line x1=\"\(Self.left)\" y1=\"\(y(tick).tenths)\" x2=\"\(end)\" y2=\"\(y(tick).tenths)\""
            text += " stroke=\"#d1d5db\"/>\n"
            text += label(Self.left - 8, y(tick) + 4, tick == tick.rounded() ? "\(Int(tick))" : "\(tick)", "end")
        }
        for second in stride(from: panel.start, through: panel.length, by: span > 150 ? 20 : 10) {
            text += "<line x1=\"\(x(second).tenths)\" y1=\"\(bottom)\" x2=\"\(x(second).tenths)\" y2=\"\(bottom + 5)\""
            text += " stroke=\"#111827\"/>\n" + label(x(second), bottom + 19, "\(second)", "middle")
        }
        if let mark = panel.mark {
            text +=
                "<line x1=\"\(Self.left)\" y1=\"\(y(mark.value).tenths)\" x2=\"\(end)\" y2=\"\(y(mark.value).tenths)\""
            text += " stroke=\"#111827\" stroke-dasharray=\"4 4\"/>\n"
            text += label(end, y(mark.value) - 5, mark.name, "end")
        }
        for (number, line) in panel.lines.enumerated() {
            let points = (panel.start..<panel.length).map { "\(x($0).tenths),\(y(line.value($0)).tenths)" }
            text += "<polyline \(stroke(number, line)) points=\"\(points.joined(separator: " "))\"/>\n"
        }
        text += "<line x1=\"\(Self.left)\" y1=\"\(bottom)\" x2=\"\(end)\" y2=\"\(bottom)\" stroke=\"#111827\"/>\n"
        text += "<line x1=\"\(Self.left)\" y1=\"\(y0)\" x2=\"\(Self.left)\" y2=\"\(bottom)\" stroke=\"#111827\"/>\n"
        text += label((Self.left + end) / 2, bottom + 36, "seconds", "middle")
        let middle = y0 + Self.height / 2
        text += "<text x=\"18\" y=\"\(middle)\" text-anchor=\"middle\" transform=\"rotate(-90 18 \(middle))\">"
        return text + panel.ordinate + "</text>\n"
    }

    private func ticks(_ top: Double) -> [Double] {
        let step = top > 2 ? 0.5 : 0.25
        return Array(stride(from: 0, through: top, by: step))
    }

    private func rect(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String) -> String {
        "<rect x=\"\(x.tenths)\" y=\"\(y.tenths)\" width=\"\(width.tenths)\" height=\"\(height)\" fill=\"\(colour)\"/>\n"
    }

    private func label(_ x: Double, _ y: Double, _ text: String, _ anchor: String) -> String {
        "<text x=\"\(x.tenths)\" y=\"\(y.tenths)\" text-anchor=\"\(anchor)\">\(text)</text>\n"
    }
}

extension Double {
    var tenths: String { String(format: "%.1f", self) }
}
