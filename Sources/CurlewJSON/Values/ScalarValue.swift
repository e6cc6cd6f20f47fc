// SPDX-License-Identifier: MIT

/// A type that a container reads without a decoder.
protocol ScalarValue: Decodable {
    /// Reads the value at the cell. Returns nil if the value is of another kind or does not fit.
    static func read(_ document: Document, _ index: Int) -> Self?
}

extension ScalarValue where Self: FixedWidthInteger {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Self? { document.integer(Self.self, at: index) }
}

extension Int: ScalarValue {}
extension Int8: ScalarValue {}
extension Int16: ScalarValue {}
extension Int32: ScalarValue {}
extension Int64: ScalarValue {}
extension UInt: ScalarValue {}
extension UInt8: ScalarValue {}
extension UInt16: ScalarValue {}
extension UInt32: ScalarValue {}
extension UInt64: ScalarValue {}

extension Bool: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Bool? { document.bool(at: index) }
}

extension Double: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Double? { document.double(at: index) }
}

extension Float: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Float? { document.float(at: index) }
}

extension String: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> String? { document.string(at: index) }
}

/// A 128-bit integer type. A cell holds only 64 bits, so its values are read from all digits of the number.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
protocol WideValue: ScalarValue, FixedWidthInteger {}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension WideValue {
    static func read(_ document: Document, _ index: Int) -> Self? {
        document.tape[index].kind == .number ? document.wideInteger(Self.self, at: index) : nil
    }
}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension Int128: WideValue {}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension UInt128: WideValue {}
