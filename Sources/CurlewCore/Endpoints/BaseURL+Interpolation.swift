// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension BaseURL: ExpressibleByStringInterpolation {
    /// A base URL written as a literal with values in it. Never traps; see `problem`.
    ///
    ///     "https://\(tenant).api.example.com/v1/\(region)"
    ///
    /// A value that the literal begins with is a base URL itself. Further on a value cannot change where the calls go more
    /// than the literal shows: in the host it is one or more whole labels, or a part of a label that is not the last;
    /// behind the host's colon it is a port; in the path it is one segment, percent-encoded. Anything else is refused.
    public init(stringInterpolation: StringInterpolation) {
        var parts = stringInterpolation
        parts.endHost()
        self.init(stringLiteral: parts.text)
        if let problem = parts.problem ?? PathRules.problem(ofPath: path, hasRawText: parts.values == 0) {
            self = BaseURL(unusable: problem)
        }
    }

    /// Collects the parts of a base URL literal, keeping the first problem.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var problem: NetworkError?
        fileprivate var values = 0
        /// A value is a part of the label at the end of the host, so a dot has to follow.
        private var wantsDot = false

        private enum Position {
            case scheme
            case host
            case port
            case path
        }

        /// Room for the literal and some characters for each value.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        /// The written part, which is taken as it is.
        public mutating func appendLiteral(_ literal: String) {
            if position == .host, values > 0, let first = literal.utf8.first, !".:/]".utf8.contains(first) {
                wantsDot = true
            }
            let rest = literal.utf8.prefix { !":/?#".utf8.contains($0) }
            if wantsDot, rest.contains(UInt8(ascii: ".")) { wantsDot = false }
            if rest.count < literal.utf8.count { endHost() }
            text += literal
        }

        /// A base URL where the literal begins, and further on one or more labels of the host, the port, or one segment.
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

        /// The same as for a `String`.
        public mutating func appendInterpolation(_ value: Substring) {
            appendInterpolation(String(value))
        }

        /// A whole number: a port, a segment or a part of a label.
        public mutating func appendInterpolation(_ value: some FixedWidthInteger) {
            let couldEnd = !wantsDot
            appendInterpolation(String(value))
            // Digits alone make no host of somebody else out of a label.
            if couldEnd { wantsDot = false }
        }

        /// A value whose text stands for it, such as an identifier type.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// An identifier type or a case of an enum, by its raw value.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// The same for a type whose text may be another than its raw value's.
        public mutating func appendInterpolation<Value: RawRepresentable & LosslessStringConvertible>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// The usual form, in capitals.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
        }

        /// An absolute URL, where the literal begins.
        public mutating func appendInterpolation(_ value: URL) {
            appendInterpolation(value.absoluteString)
        }

        /// Scheme, host and port, where the literal begins.
        public mutating func appendInterpolation(_ value: Origin) {
            appendInterpolation(value.description)
        }

        /// Another base URL, where the literal begins.
        public mutating func appendInterpolation(_ value: BaseURL) {
            if let found = value.problem { return note(found) }
            appendInterpolation(value.description)
        }

        /// Text that the app vouches for, anywhere: it is taken as if it were a part of the literal.
        public mutating func appendInterpolation(raw text: String) {
            self.text += text
        }

        /// Optionals do not belong into a URL: `https://nil.example.com` is never meant.
        @available(*, unavailable, message: "unwrap the value first: a URL has no place for nil")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}

        /// Only here for its message: the compiler picks it when nothing else fits.
        @available(
            *, unavailable,
            message:
                "a base URL takes text, numbers, UUIDs, URLs and raw values; write this one as the text that is meant"
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}

        /// The host is over; a value that is a part of its last label would decide whose host it is.
        fileprivate mutating func endHost() {
            guard wantsDot else { return }
            wantsDot = false
            refuse("A value is a part of the last name in the host.", "Put a dot before the value, or behind it.")
        }

        private mutating func appendHost(_ value: String) {
            if text.ends(with: "[") {
                return append(
                    value, where: { Self.isAlphanumeric($0) || $0 == 0x3A || $0 == 0x2E }, "host", "an address")
            }
            let labels = value.parts(".", keepingEmpty: true)
            guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isLabel) }) else {
                return refuse(
                    "A value in the host is no label, nor several with dots between them.",
                    "Use letters, digits and hyphens. A whole base URL stands at the beginning: \\(url)/v1.")
            }
            if !text.ends(with: "/"), !text.ends(with: ".") { wantsDot = true }
            text += value
        }

        private mutating func append(
            _ value: String, where isAllowed: (UInt8) -> Bool, _ place: String, _ content: String
        ) {
            guard !value.isEmpty, value.utf8.allSatisfy(isAllowed) else {
                return refuse("A value in the \(place) is not of \(content).", "Check the value before.")
            }
            text += value
        }

        /// Where the next part would stand.
        private var position: Position {
            guard let start = text.utf8.firstRange(of: "://".utf8)?.upperBound else { return .scheme }
            let rest = text.utf8[start...]
            if rest.contains(where: { "/?#".utf8.contains($0) }) { return .path }
            let afterAddress = rest.first == 0x5B ? rest.firstIndex(of: 0x5D) ?? rest.endIndex : rest.startIndex
            return rest[afterAddress...].contains(0x3A) ? .port : .host
        }

        private static func isAlphanumeric(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        }

        private static func isLabel(_ byte: UInt8) -> Bool {
            isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }

        private mutating func refuse(_ detail: String, _ hint: String) {
            note(NetworkError(.invalidRequest, detail: "The base URL cannot be used. \(detail)", hint: hint))
        }

        private mutating func note(_ found: NetworkError) {
            if problem == nil { problem = found }
        }
    }
}
