// SPDX-License-Identifier: MIT

import Curlew

/// Operations that compare bytes: a mark with a combining character behind it is another `Character`.
extension StringProtocol where SubSequence == Substring {
    func begins(with text: String) -> Bool { utf8.starts(with: text.utf8) }

    func ends(with text: String) -> Bool { utf8.reversed().starts(with: text.utf8.reversed()) }

    func first(_ mark: Unicode.Scalar) -> String.Index? { utf8.firstIndex(of: UInt8(ascii: mark)) }

    func holds(_ mark: Unicode.Scalar) -> Bool { first(mark) != nil }

    /// Returns the text before the first `mark`, or all of it.
    func upTo(_ mark: Unicode.Scalar) -> Substring { self[..<(first(mark) ?? endIndex)] }

    /// Returns the text without spaces, tabs and line breaks at either end.
    func trimmed() -> Substring {
        let start = utf8.firstIndex { $0 > 0x20 } ?? endIndex
        return self[start...].utf8.lastIndex { $0 > 0x20 }.map { self[start...$0] } ?? self[endIndex...]
    }
}

extension String {
    /// The text on one line, in which characters that act on a terminal are escaped.
    var printable: String { SafeText.lines(self).replacing("\n", with: "\\n") }
}

extension Duration {
    /// A short text: `1.3 s`, `340 ms`, `85 µs`.
    var brief: String {
        let microseconds = self / .microseconds(1)
        let (value, unit) =
            microseconds < 1000
            ? (microseconds, "µs") : microseconds < 1_000_000 ? (microseconds / 1000, "ms") : (self / .seconds(1), "s")
        let tenths = Int((min(value, 1e9) * 10).rounded())
        return (tenths % 10 == 0 || tenths >= 1000 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)") + " " + unit
    }
}
