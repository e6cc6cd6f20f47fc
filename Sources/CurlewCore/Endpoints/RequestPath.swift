// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// The path of a call, below the client's base URL.
///
///     "/users/\(id)/posts"      id is percent-encoded as one segment: "a/b" becomes a%2Fb
///     "/files/\(raw: key)"      key is already percent-encoded and may contain slashes
///
/// Text that could make a server resolve another resource is rejected before anything is sent:
/// - a `.` or `..` segment, plain or percent-encoded, in the path or in a value, including suffixes that some servers
///   cut off (`..;x`, `..%00`, trailing blanks)
/// - a backslash, a control character, `?` or `#` in the literal, and a literal that is a whole URL
/// - an empty value
///
/// The path keeps the problem, and `send` throws it as `.invalidRequest`. `\(raw:)` is for text that the app itself
/// creates: its dot segments are not checked.
///
/// A path is always appended to the base URL, never resolved against it, so it changes neither host nor base path.
public struct RequestPath: Sendable {
    /// The path on the wire: percent-encoded, and beginning with `/` unless it is empty. Only the path of a call to an
    /// absolute URL may contain a query.
    public let encoded: String
    /// The reason why the path is invalid; nil when it is valid.
    public let problem: NetworkError?
}

extension RequestPath: ExpressibleByStringInterpolation, ComparedByKey, MirroredByDescription {
    /// Creates a path from text at run time, by the rules for literals. Slashes separate segments.
    public init(_ path: String) {
        var builder = StringInterpolation(literalCapacity: path.utf8.count, interpolationCount: 0)
        builder.appendLiteral(path)
        self.init(stringInterpolation: builder)
    }

    /// Creates a path from a checked target, which may contain a query.
    init(target: String) {
        self.init(encoded: target, problem: nil)
    }

    init(refused problem: NetworkError) {
        self.init(encoded: "", problem: problem)
    }

    /// Creates a path from a literal. Never traps: if the literal is invalid, `problem` has the reason.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Creates a path from an interpolated literal. Never traps: if the literal or a value is invalid, `problem` has
    /// the reason.
    public init(stringInterpolation: StringInterpolation) {
        let path = stringInterpolation.path
        self.init(
            encoded: path.isEmpty || path.utf8.first == UInt8(ascii: "/") ? path : "/" + path,
            problem: stringInterpolation.problem
                ?? PathRules.problem(ofPath: path, hasRawText: stringInterpolation.hasRawText))
    }

    /// The path on the wire, and the reason if it is invalid.
    var comparisonKey: [String?] { [encoded, problem?.detail] }

    /// The path on the wire, or the reason why it is invalid.
    public var description: String {
        problem?.detail ?? encoded
    }
}

extension RequestPath {
    /// A builder that collects the parts of a path literal, encodes values and keeps the first problem.
    public struct StringInterpolation: StringInterpolationProtocol {
        var path = ""
        var problem: NetworkError?
        var hasRawText = false

        /// Creates a builder with capacity for the literal and some characters for each value.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path.reserveCapacity(literalCapacity + interpolationCount * 4)
        }

        /// Appends literal text and percent-encodes it as needed. Rejects `?`, `#`, backslashes and control characters.
        public mutating func appendLiteral(_ literal: String) {
            if let found = PathRules.problem(ofLiteral: literal) { return note(found) }
            path += PercentCoding.repairPath(literal)
        }

        /// Appends one segment, or a part of one, percent-encoded. Rejects empty text and dot segments.
        public mutating func appendInterpolation(_ value: String) {
            if let found = PathRules.problem(ofValue: value) { return note(found) }
            path += PercentCoding.encode(value, for: .pathSegment)
        }

        /// Appends an integer in decimal notation.
        public mutating func appendInterpolation(_ value: some FixedWidthInteger) {
            path += String(value)
        }

        /// Appends the description of a value, such as a number, a `Bool` or an identifier, under the same rules as a
        /// `String`.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Appends the standard form of a UUID, in capitals.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
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

        /// Appends trusted text that is already percent-encoded and may contain slashes.
        ///
        /// Dot segments in it are accepted. `?`, `#`, backslashes and control characters are rejected.
        public mutating func appendInterpolation(raw text: String) {
            hasRawText = true
            appendLiteral(text)
        }

        /// Rejects optionals at compile time: `/users/nil` is never intended.
        @available(*, unavailable, message: "unwrap the value first: a path has no place for nil")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}

        /// Provides the compiler's error message for types that no other overload accepts.
        @available(
            *, unavailable,
            message: "a path takes text, numbers, UUIDs and raw values; convert this value to text"
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}

        private mutating func note(_ found: NetworkError) {
            if problem == nil { problem = found }
        }
    }
}
