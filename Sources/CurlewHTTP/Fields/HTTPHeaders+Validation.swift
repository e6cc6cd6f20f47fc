// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// The reason why a field was rejected.
    ///
    /// Contains the name, escaped and clipped to 64 Unicode scalars, but never the value, which may be a secret.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The name of the field, escaped for printing and clipped to 64 Unicode scalars.
        let name: String
        /// The problem and its solution, as text.
        package let message: String

        /// The name of the field and the message.
        package var description: String { "header \"\(name)\": \(message)" }
    }
}

/// Validates every field that is added to `HTTPHeaders`, which prevents header injection.
enum FieldSyntax {
    /// Returns the value without spaces and tabs at either end. Throws the reason why the field may not be sent.
    static func check(_ name: HTTPField.Name, _ value: String) throws(HTTPHeaders.Problem) -> String {
        guard name.isValid else {
            let message =
                name.text.isEmpty
                ? "the name is empty; give the field a name"
                : "the name is not a token; use letters, digits and !#$%&'*+-.^_`|~ only"
            throw problem(name, message)
        }
        if let byte = value.firstByte(where: { ASCII.isControl($0) && $0 != 0x09 }) {
            throw problem(name, message(for: byte))
        }
        // Most values have no spaces at their ends (RFC 9110 §5.5), and stay the same string.
        guard let first = value.utf8.first, let last = value.utf8.last, ASCII.isBlank(first) || ASCII.isBlank(last)
        else { return value }
        return String(value.trimmed())
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

extension HTTPField.Name {
    /// Whether the field applies to a single connection or to the routing of the message, so that the sender of each
    /// message sets it (RFC 9110 §7.6.1). Includes fields that only older software uses.
    package var belongsToConnection: Bool {
        switch text.utf8.count {
        case 2: isSpelled("TE")
        case 4: isSpelled("Host")
        case 7: isSpelled("Trailer") || isSpelled("Upgrade")
        case 10: isSpelled("Connection") || isSpelled("Keep-Alive")
        case 14: isSpelled("HTTP2-Settings")
        case 16: isSpelled("Proxy-Connection")
        case 17: isSpelled("Transfer-Encoding")
        case 19: isSpelled("Proxy-Authorization")
        default: false
        }
    }

    private func isSpelled(_ name: String) -> Bool { ASCII.equalIgnoringCase(name, text) }
}

extension HTTPHeaders {
    /// The fields that an intermediary, such as a reverse proxy, may forward in its own request.
    ///
    /// Omits the fields of the connection that delivered the message (RFC 9110 §7.6.1): `Connection` and the fields
    /// that it names, `Host`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`, `Trailer`,
    /// `Transfer-Encoding`, `Upgrade` and `HTTP2-Settings`. A request with a field of this list throws
    /// `.invalidRequest`. Also omits `Content-Length`, which is derived from the body.
    public var endToEnd: HTTPHeaders {
        let named = self[values: .connection].flatMap { $0.parts(",") }.map { String($0.trimmed()) }
        var result = self
        for name in Set(map(\.name)) {
            let isNamed = named.contains { ASCII.equalIgnoringCase($0, name.text) }
            if isNamed || name.belongsToConnection || name == .contentLength { result.remove(name) }
        }
        return result
    }
}
