// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// The reason why a field was rejected.
    ///
    /// Contains the name, escaped and clipped to 64 Unicode scalars, but never the value, which may be a secret.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The name of the field, escaped for printing and clipped to 64 Unicode scalars.
        package let name: String
        /// The problem and its solution, as text.
        package let message: String

        /// The name of the field and the message.
        package var description: String { "header \"\(name)\": \(message)" }
    }
}

/// Validates every field that is added to `HTTPHeaders`, which prevents header injection.
enum FieldSyntax {
    enum Verdict {
        case good(String)
        case bad(HTTPHeaders.Problem)
    }

    /// Returns the value without spaces and tabs at either end, or the reason why the field may not be sent.
    static func check(_ name: HTTPField.Name, _ value: String) -> Verdict {
        guard name.isValid else {
            let message =
                name.text.isEmpty
                ? "the name is empty; give the field a name"
                : "the name is not a token; use letters, digits and !#$%&'*+-.^_`|~ only"
            return .bad(problem(name, message))
        }
        if let byte = value.firstByte(where: { ASCII.isControl($0) && $0 != 0x09 }) {
            return .bad(problem(name, message(for: byte)))
        }
        return .good(trimmed(value))
    }

    /// Returns the value without spaces and tabs at either end (RFC 9110 §5.5), or the same string if there are none.
    static func trimmed(_ value: String) -> String {
        let bytes = value.utf8
        guard let first = bytes.first, let last = bytes.last, ASCII.isBlank(first) || ASCII.isBlank(last) else {
            return value
        }
        let start = bytes.firstIndex { !ASCII.isBlank($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !ASCII.isBlank($0) }.map { bytes.index(after: $0) } ?? start
        return String(value[start..<end])
    }

    private static func message(for byte: UInt8) -> String {
        switch byte {
        case 0x0D, 0x0A: "the value has a line break, which would start another field; remove it or encode the value"
        case 0x00: "the value has a NUL byte; remove it or encode the value"
        default: "the value has a control character; remove it or encode the value"
        }
    }

    private static func problem(_ name: HTTPField.Name, _ message: String) -> HTTPHeaders.Problem {
        var safe = ""
        for scalar in name.text.unicodeScalars.prefix(64) { safe += scalar.escaped(asASCII: true) }
        if name.text.unicodeScalars.count > 64 { safe += "..." }
        return HTTPHeaders.Problem(name: safe, message: message)
    }
}
