// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Checks paths for text that could make a server resolve another resource. Servers decode paths before they resolve
/// dot segments, and some decode twice, so the checks apply to every level of percent-encoding.
enum PathRules {
    static func problem(ofLiteral text: String) -> NetworkError? {
        if let byte = text.firstByte(where: isRefused) {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                return refusal(
                    "The path contains \"\(Character(Unicode.Scalar(byte)))\": \(shown(text))",
                    hint:
                        "Put query items into `query`; a value with this character is encoded when it is interpolated.")
            case UInt8(ascii: "\\"):
                return refusal("The path contains a backslash: \(shown(text))", hint: "Separate segments with /.")
            default:
                return refusal("The path contains a control character.", hint: "Remove it, or interpolate the value.")
            }
        }
        if text.utf8.first == UInt8(ascii: "h"), text.begins(with: "http://") || text.begins(with: "https://") {
            return refusal(
                "The path is a whole URL.", hint: "Use .get(url:) for another origin, or baseURL for the first part.")
        }
        return nil
    }

    private static func isRefused(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"), 0..<0x20, 0x7F: true
        default: false
        }
    }

    static func problem(ofValue value: String) -> NetworkError? {
        if value.isEmpty {
            return refusal(
                "A value in the path is empty, so the path would name another resource.",
                hint: "Check the value before the call. \\(raw:) accepts empty text.")
        }
        return hasDotSegment(value) ? dotSegment(value) : nil
    }

    static func problem(ofPath path: String, hasRawText: Bool) -> NetworkError? {
        !hasRawText && hasDotSegment(path) ? dotSegment(path) : nil
    }

    /// Returns whether a server might treat a segment as `.` or `..`, plain or percent-encoded. Both `/` and `\`
    /// separate segments.
    ///
    /// Tomcat, Jetty and Spring cut a segment at `;` before they resolve it. Other servers end it at a decoded NUL, `?`
    /// or `#`, trim blanks and control characters, or accept overlong UTF-8 such as `%C0%AE`.
    static func hasDotSegment(_ text: String) -> Bool {
        guard mayHaveDotSegment(text) else { return false }
        var bytes = Array(text.utf8)
        for _ in 0..<maximumDecodings {
            let segments = bytes.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            if segments.contains(where: isDotSegment) { return true }
            let decoded = withoutOverlong(PercentCoding.decodeLeniently(bytes))
            if decoded.count == bytes.count { return false }
            bytes = decoded
        }
        return true
    }

    private static func isDotSegment(_ segment: ArraySlice<UInt8>) -> Bool {
        let name = segment.prefix { !";?#\0".utf8.contains($0) }.drop { $0 <= 0x20 }
        let dots = name.prefix { $0 == UInt8(ascii: ".") }
        return (1...2).contains(dots.count)
            && name[dots.endIndex...].allSatisfy { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: ".") }
    }

    /// Returns the bytes with the two-byte encodings of ASCII decoded. UTF-8 forbids these encodings, but some servers
    /// accept them.
    private static func withoutOverlong(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 == 0xC0 || $0 == 0xC1 }) else { return bytes }
        var result: [UInt8] = []
        for byte in bytes {
            if byte & 0xC0 == 0x80, let lead = result.last, lead == 0xC0 || lead == 0xC1 {
                result[result.count - 1] = (lead & 1) << 6 | byte & 0x3F
            } else {
                result.append(byte)
            }
        }
        return result
    }

    /// Returns false if nothing is encoded and no segment begins with a dot, or with a blank or control character that
    /// may precede a dot. Nearly all paths are of this kind, and need only one pass over their bytes.
    private static func mayHaveDotSegment(_ text: String) -> Bool {
        var isFirst = true
        let found = text.firstByte { byte in
            if byte == UInt8(ascii: "%") || isFirst && (byte == UInt8(ascii: ".") || byte <= 0x20) { return true }
            isFirst = byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
            return false
        }
        return found != nil
    }

    /// The maximum number of times that text is decoded. Text that is still encoded after that is treated as malicious.
    private static let maximumDecodings = 8

    private static func dotSegment(_ text: String) -> NetworkError {
        refusal(
            "The path contains a dot segment: \(shown(text))",
            hint: "A server may resolve it to another resource. Remove . and .., or use \\(raw:) if this is intended.")
    }

    private static func refusal(_ detail: String, hint: String) -> NetworkError {
        NetworkError(.invalidRequest, detail: detail, hint: hint)
    }

    private static func shown(_ text: String) -> String {
        PercentCoding.repairPath(text.clipped(to: 120))
    }
}
