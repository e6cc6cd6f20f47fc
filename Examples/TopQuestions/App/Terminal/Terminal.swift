// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal of this process while the app has it for itself: raw, and on its alternate screen.
struct Terminal {
    private let before: termios

    /// A user can read and press keys.
    static func isPresent(environment: [String: String]) -> Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb"
    }

    /// Takes the terminal; nil if it does not let itself be taken.
    init?() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        before = settings
        cfmakeraw(&settings)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) == 0 else { return nil }
        // The alternate screen, no cursor, and no line that goes on below.
        Self.send("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    }

    /// Restores the terminal. Called on every exit.
    func restore() {
        Self.send("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        var settings = before
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    /// How large it is now; what most are if it does not say.
    var size: Size {
        var window = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    /// Shows lines from the first row on, in one piece, so that nothing flickers.
    func draw(_ lines: [String]) {
        // Cleared before: after a full row the cursor still stands on its last column.
        Self.send(lines.enumerated().map { "\u{1B}[\($0 + 1);1H\u{1B}[2K\($1)" }.joined())
    }

    /// Writes all of it, past the buffers of `print`.
    static func send(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
        }
    }
}
#endif
