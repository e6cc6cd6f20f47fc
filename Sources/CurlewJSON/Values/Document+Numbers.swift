// SPDX-License-Identifier: MIT

extension Document {
    @inline(__always)
    func bool(at index: Int) -> Bool? {
        let kind = tape[index].kind
        if kind == .true { return true }
        return kind == .false ? false : nil
    }

    /// Returns an integer of at most 64 bits; nil if the value is not a whole number or does not fit.
    @inline(__always)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at index: Int) -> Value? {
        let cell = tape[index]
        guard cell.kind == .number else { return nil }
        if !cell.has(.extra) { return signed(cell.detail, cell.has(.negative)) }
        return largeInteger(type, cell, index)
    }

    @inline(__always)
    private func signed<Value: FixedWidthInteger>(_ digits: UInt64, _ isNegative: Bool) -> Value? {
        guard isNegative else { return Value(exactly: digits) }
        // The negation is also correct for the minimum value, whose magnitude does not fit `Int64`.
        guard digits <= 1 << 63 else { return nil }
        return Value(exactly: Int64(truncatingIfNeeded: 0 &- digits))
    }

    /// Reads integers from 2^24, and numbers with a fraction or an exponent, because they may still be whole: `1.0`,
    /// `1e3`. The result is exact, without a conversion to `Double`.
    @inline(__always)
    private func largeInteger<Value: FixedWidthInteger>(_ type: Value.Type, _ cell: Cell, _ index: Int) -> Value? {
        if cell.has(.long) { return wideInteger(type, at: index) }
        let digits = tape[index &+ 1].bits
        if cell.exponent == 0 { return signed(digits, cell.has(.negative)) }
        return shifted(digits, cell.exponent).flatMap { signed($0, cell.has(.negative)) }
    }

    /// Returns `digits × 10^exponent`; nil if the result is not whole or needs more than 64 bits.
    @inline(never)
    private func shifted(_ digits: UInt64, _ exponent: Int) -> UInt64? {
        guard digits != 0 else { return 0 }
        // 10^20 exceeds 64 bits.
        guard abs(exponent) < 20 else { return nil }
        var digits = digits
        for _ in 0..<abs(exponent) {
            if exponent > 0 {
                let (product, overflow) = digits.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                digits = product
            } else {
                let (quotient, remainder) = digits.quotientAndRemainder(dividingBy: 10)
                guard remainder == 0 else { return nil }
                digits = quotient
            }
        }
        return digits
    }

    /// Returns an integer of any width; nil if the number is not whole or does not fit. The value must be a number.
    @inline(never)
    func wideInteger<Value: FixedWidthInteger>(_ type: Value.Type, at index: Int) -> Value? {
        LongNumber(at: index, in: self).integer()
    }

    @inline(__always)
    func double(at index: Int) -> Double? {
        let cell = tape[index]
        guard cell.kind == .number else { return nil }
        return double(cell, index)
    }

    /// Returns the nearest `Double`; nil, as in Foundation, if it would be infinite, or would be zero although the
    /// number is not zero.
    @inline(__always)
    private func double(_ cell: Cell, _ index: Int) -> Double? {
        let value: Double
        if !cell.has(.extra) {
            value = Double(cell.detail)
        } else if !cell.has(.long), let exact = exactDouble(tape[index &+ 1].bits, cell.exponent) {
            value = exact
        } else {
            return longFloat(at: index)
        }
        return cell.has(.negative) ? -value : value
    }

    /// Returns `digits × 10^exponent`, if one multiplication or division of exact values gives it: it rounds once.
    @inline(__always)
    private func exactDouble(_ digits: UInt64, _ exponent: Int) -> Double? {
        guard digits <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        let value = Double(digits)
        return exponent < 0 ? value / Self.exactPowers[-exponent] : value * Self.exactPowers[exponent]
    }

    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// Any other number: the standard library rounds its text.
    @inline(never)
    private func longFloat<Value: BinaryFloatingPoint & LosslessStringConvertible>(at index: Int) -> Value? {
        LongNumber(at: index, in: self).floatingPoint()
    }

    func float(at index: Int) -> Float? {
        let cell = tape[index]
        guard cell.kind == .number, let double = double(cell, index) else { return nil }
        // Rounding twice is wrong only if the first rounding gives a value half way between two floats, or if the float
        // is subnormal.
        let isHalfWay = double.bitPattern & 0x1FFF_FFFF == 0x1000_0000
        let magnitude = double.magnitude
        if !isHalfWay, magnitude == 0 || magnitude > Double(Float.leastNormalMagnitude) {
            let float = Float(double)
            return float.isFinite ? float : nil
        }
        return longFloat(at: index)
    }
}
