// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)

/// Turns lines into what a terminal understands, in as many colours as it has.
struct Painter {
    enum Colours { case none, indexed, full }

    let colours: Colours

    /// As the environment says: none with `NO_COLOR`, 24 bits with `COLORTERM`, 256 otherwise.
    init(environment: [String: String]) {
        if !(environment["NO_COLOR"] ?? "").isEmpty {
            colours = .none
        } else {
            colours = ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "") ? .full : .indexed
        }
    }

    func paint(_ line: Line) -> String {
        line.spans.map { paint($0.text, $0.style) }.joined()
    }

    private func paint(_ text: String, _ style: Line.Style) -> String {
        let codes: String
        switch style {
        case .plain: return text
        case .dim: codes = "2"
        case .bold: codes = "1"
        case .accent: codes = colours == .none ? "1" : "36"
        case .failure: codes = colours == .none ? "1" : "31"
        case .selected: codes = "1;7"
        case .pixels(let top, let bottom):
            guard colours != .none else {
                let shape = top.isDark ? (bottom.isDark ? "█" : "▀") : (bottom.isDark ? "▄" : " ")
                return String(repeating: shape, count: text.count)
            }
            codes = "38;\(code(top));48;\(code(bottom))"
        }
        return "\u{1B}[\(codes)m\(text)\u{1B}[0m"
    }

    private func code(_ pixel: Pixel) -> String {
        if colours == .full { return "2;\(pixel.red);\(pixel.green);\(pixel.blue)" }
        // A cube of six steps for each part, after the sixteen named colours.
        let steps = [pixel.red, pixel.green, pixel.blue].map { (Int($0) * 5 + 127) / 255 }
        return "5;\(16 + 36 * steps[0] + 6 * steps[1] + steps[2])"
    }
}

extension Pixel {
    fileprivate var isDark: Bool { Int(red) * 2 + Int(green) * 5 + Int(blue) < 8 * 128 }
}
#endif
