// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
            path += PercentCoding.repairPath(literal)
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
        public mutating func appendInterpolation(_ value: some FixedWidthInteger) {
            path += String(value)
        }

        /// A value whose text stands for it: a number, a `Bool`, an identifier type.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// The usual form, in capitals.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
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

        /// Text that is percent-encoded already and may hold slashes; the app vouches for it.
        ///
        /// Dot segments in it are not refused. Still refused: `?`, `#`, backslashes and control characters.
        public mutating func appendInterpolation(raw text: String) {
            hasRawText = true
            appendLiteral(text)
        }

        /// Optionals do not belong into a path: `/users/nil` is never meant.
        @available(*, unavailable, message: "unwrap the value first: a path has no place for nil")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}

        /// Only here for its message: the compiler picks it when nothing else fits.
        @available(
            *, unavailable,
            message: "a path takes text, numbers, UUIDs and raw values; write this one as the text that is meant"
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}

        private mutating func note(_ found: NetworkError) {
            if problem == nil { problem = found }
        }
    }
}
