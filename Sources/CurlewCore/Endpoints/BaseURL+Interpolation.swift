// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

extension BaseURL: ExpressibleByStringInterpolation {
    /// Creates a base URL from an interpolated literal. Never traps: if the literal or a value is invalid, `problem`
    /// has the reason.
    ///
    ///     "https://\(tenant).api.example.com/v1/\(region)"
    ///
    /// A value at the start of the literal is itself a base URL. Elsewhere, the position of a value restricts its
    /// content:
    /// - in the host: one or more complete labels, or a part of a label that is not the last
    /// - after the colon of the host: a port
    /// - in the path: one segment or a part of one, which is percent-encoded
    ///
    /// Any other value is rejected.
    public init(stringInterpolation: StringInterpolation) {
        var parts = stringInterpolation
        parts.endHost()
        self.init(stringLiteral: parts.text)
        if let problem = parts.problem ?? PathRules.problem(ofPath: path, hasRawText: parts.values == 0) {
            self = BaseURL(unusable: problem)
        }
    }

    /// A builder that collects the parts of a base URL literal and keeps the first problem.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var problem: NetworkError?
        fileprivate var values = 0
        /// True if a value is a part of the last label of the host so far, so that a dot must follow.
        private var wantsDot = false

        private enum Position {
            case scheme
            case host
            case port
            case path
        }

        /// Creates a builder with capacity for the literal and some characters for each value.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        /// Appends literal text unchanged.
        public mutating func appendLiteral(_ literal: String) {
            if position == .host, values > 0, let first = literal.utf8.first, !".:/]".utf8.contains(first) {
                wantsDot = true
            }
            let remainder = literal.utf8.prefix { !":/?#".utf8.contains($0) }
            if wantsDot, remainder.contains(UInt8(ascii: ".")) { wantsDot = false }
            if remainder.count < literal.utf8.count { endHost() }
            text += literal
        }

        /// Appends text: at the start of the literal a base URL, elsewhere one or more labels of the host, the port, or
        /// one path segment. Other text makes the URL invalid (`BaseURL.problem`).
        public mutating func appendInterpolation(_ value: String) {
            defer { values += 1 }
            if text.isEmpty { return text += value }
            switch position {
            case .scheme: append(value, where: Self.isAlphanumeric, "scheme", "letters")
            case .port: append(value, where: { (0x30...0x39).contains($0) }, "port", "digits")
            case .host: appendHost(value)
            case .path:
                if let found = PathRules.problem(ofValue: value) { return note(found) }
                text += PercentCoding.encode(value, for: .pathSegment)
            }
        }

        /// Appends an integer: a port, a segment or a part of a label.
        public mutating func appendInterpolation(_ value: some FixedWidthInteger) {
            let couldEnd = !wantsDot
            appendInterpolation(String(value))
            // A number alone cannot turn the last label of the host into a domain of another owner.
            if couldEnd { wantsDot = false }
        }

        /// Appends the description of a value, such as that of an identifier, under the same rules as a `String`.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Appends the raw value of an identifier or an enum case, under the same rules as a `String`.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// Appends the raw value, which may differ from the description, under the same rules as a `String`.
        public mutating func appendInterpolation<Value: RawRepresentable & LosslessStringConvertible>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// Appends the standard form of a UUID, in capitals.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
        }

        /// Appends the text of a URL under the same rules as a `String`. At the start of the literal, it is the base
        /// URL.
        public mutating func appendInterpolation(_ value: URL) {
            appendInterpolation(value.absoluteString)
        }

        /// Appends the scheme, host and port of an origin under the same rules as a `String`. Use it at the start of
        /// the literal.
        public mutating func appendInterpolation(_ value: Origin) {
            appendInterpolation(value.description)
        }

        /// Appends the text of another base URL under the same rules as a `String`. Use it at the start of the literal.
        /// If the other URL is invalid, the new URL has the same problem.
        public mutating func appendInterpolation(_ value: BaseURL) {
            if let found = value.problem { return note(found) }
            appendInterpolation(value.description)
        }

        /// Appends text that the app trusts, at any position. The rules for values do not apply to it.
        public mutating func appendInterpolation(raw text: String) {
            self.text += text
        }

        /// Rejects optionals at compile time: `https://nil.example.com` is never intended.
        @available(*, unavailable, message: "unwrap the value first: a URL has no place for nil")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}

        /// Provides the compiler's error message for types that no other overload accepts.
        @available(
            *, unavailable,
            message: "a base URL takes text, numbers, UUIDs, URLs and raw values; convert this value to text"
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}

        /// Ends the host, and rejects a value that is a part of its last label: such a value would determine the owner
        /// of the host.
        fileprivate mutating func endHost() {
            guard wantsDot else { return }
            wantsDot = false
            refuse("A value is part of the last label of the host.", "Put a dot before or after the value.")
        }

        private mutating func appendHost(_ value: String) {
            if text.ends(with: "[") {
                return append(
                    value, where: { Self.isAlphanumeric($0) || $0 == 0x3A || $0 == 0x2E }, "host", "an address")
            }
            let labels = value.parts(".", keepingEmpty: true)
            let isLabel = { (byte: UInt8) in Self.isAlphanumeric(byte) || "-_".utf8.contains(byte) }
            guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isLabel) }) else {
                return refuse(
                    "A value in the host is not a label, nor several labels separated by dots.",
                    "Use letters, digits and hyphens. Put a whole base URL at the beginning: \\(url)/v1.")
            }
            if !text.ends(with: "/"), !text.ends(with: ".") { wantsDot = true }
            text += value
        }

        private mutating func append(
            _ value: String, where isAllowed: (UInt8) -> Bool, _ component: String, _ content: String
        ) {
            guard !value.isEmpty, value.utf8.allSatisfy(isAllowed) else {
                return refuse(
                    "A value in the \(component) does not consist of \(content).", "Check the value before the call.")
            }
            text += value
        }

        /// The part of the URL to which the next text belongs.
        private var position: Position {
            guard let start = text.utf8.firstRange(of: "://".utf8)?.upperBound else { return .scheme }
            let remainder = text.utf8[start...]
            if remainder.contains(where: { "/?#".utf8.contains($0) }) { return .path }
            let afterAddress =
                remainder.first == 0x5B ? remainder.firstIndex(of: 0x5D) ?? remainder.endIndex : remainder.startIndex
            return remainder[afterAddress...].contains(0x3A) ? .port : .host
        }

        private static func isAlphanumeric(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        }

        private mutating func refuse(_ detail: String, _ hint: String) {
            note(NetworkError(.invalidRequest, detail: "The base URL cannot be used. \(detail)", hint: hint))
        }

        private mutating func note(_ found: NetworkError) {
            if problem == nil { problem = found }
        }
    }
}
