// SPDX-License-Identifier: MIT

import Curlew

/// The output was closed by its reader, such as `head`.
struct OutputClosed: Error {}

/// Writes to the output and to the error stream, with colours if these are wanted.
struct Console: Sendable {
    let io: CommandIO
    /// Whether bodies are indented, coloured and made safe for a terminal.
    let isPretty: Bool
    let style: Style
    let errorStyle: Style
    let isQuiet: Bool
    private let showsSecrets: Bool

    init(_ arguments: ParsedArguments, _ io: CommandIO) {
        self.io = io
        let allowed = (io.environment["NO_COLOR"] ?? "").isEmpty && !io.isDumb
        switch arguments[.color] {
        case "always": (isPretty, style, errorStyle) = (true, .colored, .colored)
        case "never": (isPretty, style, errorStyle) = (io.outputIsTerminal, .plain, .plain)
        default:
            isPretty = io.outputIsTerminal
            style = allowed && io.outputIsTerminal ? .colored : .plain
            errorStyle = allowed && io.errorIsTerminal ? .colored : .plain
        }
        isQuiet = arguments.has(.quiet)
        showsSecrets = arguments.has(.showSecrets)
    }

    /// Returns a URL without its secrets, unless these are to be shown.
    func shown(_ url: String) -> String { showsSecrets ? url : Redaction.standard.url(url) }

    /// Whether the error stream is a terminal on which the cursor can move.
    var movesCursor: Bool { io.errorIsTerminal && !io.isDumb }

    func write(_ text: String) throws { try write(Data(text.utf8)) }

    func write(_ data: Data) throws { try Self.write(data, to: io) }

    /// Throws `OutputClosed` if the reader has left, and `NetworkError` if the system refuses the write.
    static func write(_ data: Data, to io: CommandIO) throws {
        guard !data.isEmpty else { return }
        switch io.write(data) {
        case .complete: return
        case .closed: throw OutputClosed()
        case .failed(let code): throw PrivateFile.failure("written", "The output", code)
        }
    }

    /// Returns a text for the error stream, on a terminal wrapped between words. Its first line begins after `indent`
    /// columns, and its other lines have as many spaces.
    func wrapped(_ text: String, hanging indent: Int) -> String {
        guard io.errorIsTerminal, text.utf8.count > io.columns - indent else { return text }
        return HelpText.wrapped(text, to: max(20, io.columns - indent))
            .joined(separator: "\n" + String(repeating: " ", count: indent))
    }

    /// Writes a line to the error stream.
    func note(_ line: String) { io.note(line + "\n") }

    /// Writes a line of advice to the error stream, if a person reads it.
    func advise(_ line: String) {
        if io.errorIsTerminal, !isQuiet { note(errorStyle(.dim, line)) }
    }
}

/// The colours of a stream.
struct Style: Hashable, Sendable {
    enum Role: String, Sendable {
        case name = "36"
        case string = "32"
        case number = "35"
        case word = "33"
        case good = "1;32"
        case redirect = "1;33"
        case bad = "1;31"
        case dim = "2"
        case strong = "1"
    }

    static let plain = Style(isColored: false)
    static let colored = Style(isColored: true)

    let isColored: Bool

    /// Returns the text in the colour of its role.
    func callAsFunction(_ role: Role, _ text: String) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Returns the role of a status.
    static func role(ofStatus code: Int) -> Role {
        switch code {
        case 200..<300: .good
        case 300..<400: .redirect
        case 400...: .bad
        default: .strong
        }
    }
}
