// SPDX-License-Identifier: MIT

public import CurlewFoundation
import CurlewHTTP

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

        /// Appends literal text. Characters that a path cannot contain are percent-encoded; `?` and `#` are rejected.
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

        /// Appends the raw value of an identifier type or an enum case.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// Appends the raw value of a type whose description may differ from it.
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
