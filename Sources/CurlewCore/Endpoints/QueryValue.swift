// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// A value that can be used in a query or a form.
///
/// These types conform: text, numbers, `Bool` (`true` and `false`), `UUID`, `URL`, `Date` (ISO 8601 in UTC), and arrays
/// and sets of them. An enum conforms with one line and sends its raw value:
///
///     extension SortOrder: QueryValue {}
public protocol QueryValue: Sendable {
    /// The strings to send, not percent-encoded. Each is one query item or form field; an empty array adds none.
    var queryTexts: [String] { get }
}

extension QueryValue where Self: CustomStringConvertible {
    /// The description of the value, as a single string.
    public var queryTexts: [String] { [description] }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The strings of the raw value.
    public var queryTexts: [String] { rawValue.queryTexts }
}

extension QueryValue where Self: RawRepresentable & CustomStringConvertible, RawValue: QueryValue {
    /// The strings of the raw value, even if the description differs.
    public var queryTexts: [String] { rawValue.queryTexts }
}

extension String: QueryValue {}
extension Substring: QueryValue {}
extension Bool: QueryValue {}
extension Int: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Float: QueryValue {}
extension Double: QueryValue {}
extension Decimal: QueryValue {}

extension UUID: QueryValue {
    /// The standard form of the UUID, in capitals.
    public var queryTexts: [String] { [uuidString] }
}

extension URL: QueryValue {
    /// The absolute URL.
    public var queryTexts: [String] { [absoluteString] }
}

extension Date: QueryValue {
    /// The date in ISO 8601, in UTC and whole seconds: `2026-01-31T08:30:00Z`.
    public var queryTexts: [String] { [formatted(.iso8601)] }
}

extension Array: QueryValue where Element: QueryValue {
    /// The strings of all elements, in order. The query repeats the name for each string.
    public var queryTexts: [String] { flatMap(\.queryTexts) }
}

extension Set: QueryValue where Element: QueryValue {
    /// The strings of all elements, sorted, so that equal sets produce equal requests.
    public var queryTexts: [String] { flatMap(\.queryTexts).ordered(by: <) }
}
