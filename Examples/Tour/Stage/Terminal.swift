// SPDX-License-Identifier: MIT

import Curlew

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Text for a terminal; plain where the output goes elsewhere or the reader wants no colours (`NO_COLOR`).
enum Terminal {
    private static let isStyled =
        isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

    static func bold(_ text: String) -> String { styled(text, "1") }
    static func dim(_ text: String) -> String { styled(text, "2") }
    static func red(_ text: String) -> String { styled(text, "31") }
    static func green(_ text: String) -> String { styled(text, "32") }
    static func yellow(_ text: String) -> String { styled(text, "33") }

    private static func styled(_ text: String, _ code: String) -> String {
        isStyled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// The line of a call: `GET    200   1.2 ms  /users/1`.
    static func call(_ method: String, _ outcome: String, _ time: Duration, _ path: String) -> String {
        let status = column(outcome, 12)
        let coloured = outcome.hasPrefix("2") ? green(status) : yellow(status)
        return "    \(bold(column(method, 7)))\(coloured)\(dim(column(milliseconds(time), 10)))\(path)"
    }

    static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    /// `12.3 ms`
    static func milliseconds(_ time: Duration) -> String {
        let tenths = Int((time / .microseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
