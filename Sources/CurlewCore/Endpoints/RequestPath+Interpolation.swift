// SPDX-License-Identifier: MIT

import CurlewHTTP

extension RequestPath {
    /// Collects the parts of a path literal, encoding values and keeping the first problem.
    public struct StringInterpolation: StringInterpolationProtocol {
        var path = ""
        var problem: NetworkError?
        var hasRawText = false

        /// Room for the literal and some characters for each value.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path.reserveCapacity(literalCapacity + interpolationCount * 4)
        }

        /// The written part: characters that a path cannot hold are percent-encoded, `?` and `#` refused.
        public mutating func appendLiteral(_ literal: String) {
            if let found = PathRules.problem(ofLiteral: literal) { return note(found) }
            path += PercentCoding.repair(literal, for: .path)
        }

        /// One segment, or a part of one.
        public mutating func appendInterpolation(_ value: String) {
            if let found = PathRules.problem(ofValue: value) { return note(found) }
            path += PercentCoding.encode(value, for: .pathSegment)
        }

        /// One segment, or a part of one.
        public mutating func appendInterpolation(_ value: Substring) {
            appendInterpolation(String(value))
        }

        /// A whole number.
        public mutating func appendInterpolation(_ value: some BinaryInteger) {
            path += String(value)
        }

        /// A value by its description: an identifier type, a `UUID`, a `Double`.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(value.description)
        }

        /// A case of an enum by its raw value.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: CustomStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// A case of an enum by its raw value, also when it describes itself otherwise.
        public mutating func appendInterpolation<Value: RawRepresentable & CustomStringConvertible>(_ value: Value)
        where Value.RawValue: CustomStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// Text that is percent-encoded already and may hold slashes; the app vouches for it.
        ///
        /// Dot segments in it are not refused. Still refused: `?`, `#`, backslashes and control characters.
        public mutating func appendInterpolation(raw text: String) {
            hasRawText = true
            appendLiteral(text)
        }

        /// Optionals do not belong into a path: `/users/nil` is never meant.
        @available(*, unavailable, message: "Unwrap the value first: a path has no place for nil.")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}

        /// Collections have no one form in a path.
        @available(*, unavailable, message: "Join the elements first, or use `query` for a list.")
        public mutating func appendInterpolation<Values: Sequence & CustomStringConvertible>(_ values: Values) {}

        private mutating func note(_ found: NetworkError) {
            if problem == nil { problem = found }
        }
    }
}
