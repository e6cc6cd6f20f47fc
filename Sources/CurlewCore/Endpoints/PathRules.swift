// SPDX-License-Identifier: MIT

import CurlewHTTP

/// What a path must not hold. Servers decode before they resolve, and some decode twice, so the rules look through
/// percent-encoding however often it was applied.
enum PathRules {
    static func problem(ofLiteral text: String) -> NetworkError? {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                return refusal(
                    "The path holds \"\(Character(Unicode.Scalar(byte)))\": \(shown(text))",
                    hint: "Put query items into `query`; a value with this sign is encoded when it is interpolated.")
            case UInt8(ascii: "\\"):
                return refusal("The path holds a backslash: \(shown(text))", hint: "Write / between segments.")
            case 0..<0x20, 0x7F:
                return refusal("The path holds a control character.", hint: "Remove it, or interpolate the value.")
            default: continue
            }
        }
        if text.utf8.first == UInt8(ascii: "h"), text.hasPrefix("http://") || text.hasPrefix("https://") {
            return refusal(
                "The path is a whole URL.", hint: "Use .get(url:) for another origin, or baseURL for the first part.")
        }
        return nil
    }

    static func problem(ofValue value: String) -> NetworkError? {
        if value.isEmpty {
            return refusal(
                "A value in the path is empty, which would name another resource.",
                hint: "Check the value before the call. \\(raw:) takes empty text.")
        }
        return hasDotSegment(value) ? dotSegment(value) : nil
    }

    static func problem(ofPath path: String, hasRawText: Bool) -> NetworkError? {
        !hasRawText && hasDotSegment(path) ? dotSegment(path) : nil
    }

    /// True when a segment between `/` and `\`, plain or percent-encoded, is `.` or `..`.
    static func hasDotSegment(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return hasPlainDotSegment(text) }
        var bytes = Array(text.utf8)
        for _ in 0..<mostDecodings {
            let segments = bytes.lazy.split(omittingEmptySubsequences: true) {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
            }
            if segments.contains(where: { $0.count <= 2 && $0.allSatisfy { $0 == UInt8(ascii: ".") } }) { return true }
            let decoded = PercentCoding.decodeLeniently(bytes)
            if decoded.count == bytes.count { return false }
            bytes = decoded
        }
        return true
    }

    /// The same where nothing is encoded, which is nearly always: one look at each byte.
    private static func hasPlainDotSegment(_ text: String) -> Bool {
        // How many dots the segment has so far; nil once it has anything else.
        var dots: Int? = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") {
                if dots == 1 || dots == 2 { return true }
                dots = 0
            } else {
                dots = byte == UInt8(ascii: ".") ? dots.map { $0 + 1 } : nil
            }
        }
        return dots == 1 || dots == 2
    }

    /// Text that is still encoded after this many rounds was made to deceive.
    private static let mostDecodings = 8

    private static func dotSegment(_ text: String) -> NetworkError {
        refusal(
            "The path holds a dot segment: \(shown(text))",
            hint: "A server may resolve it to another resource. Take . and .. out, or use \\(raw:) if it is meant.")
    }

    private static func refusal(_ detail: String, hint: String) -> NetworkError {
        NetworkError(.invalidRequest, detail: detail, hint: hint)
    }

    private static func shown(_ text: String) -> String {
        PercentCoding.repairPath(text.clipped(to: 120))
    }
}
