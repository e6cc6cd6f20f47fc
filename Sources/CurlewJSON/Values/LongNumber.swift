// SPDX-License-Identifier: MIT

/// A number, as digits and a power of ten, that needs more than 64 bits or separate rounding.
///
/// For a number with more digits than the tape can hold, the digits are the bytes in the document, including the point
/// if there is one. For any other number, the digits are from the tape.
struct LongNumber {
    private let isNegative: Bool
    private let digits: UInt64
    /// The digits in the document, with the point; empty if the tape holds all digits.
    private let mantissa: UnsafeBufferPointer<UInt8>
    private let wholeDigits: Int
    /// The exponent of ten, clamped to a range in which additions do not overflow.
    private let exponent: Int

    init(at index: Int, in document: Document) {
        let cell = document.tape[index]
        isNegative = cell.has(.negative)
        guard cell.has(.long) else {
            let hasExtra = cell.has(.extra)
            digits = hasExtra ? document.tape[index + 1].bits : cell.detail
            exponent = hasExtra ? cell.exponent : 0
            (mantissa, wholeDigits) = (document.source.slice(0, 0), 0)
            return
        }
        let extent = document.tape[index + 1]
        let start = cell.position + (isNegative ? 1 : 0)
        let end = cell.position + extent.low
        (digits, wholeDigits) = (0, extent.high)
        mantissa = document.source.slice(start, end - start)
        exponent = document.source.exponent(at: end)
    }

    /// Returns the exact integer; nil if the number has a fraction or does not fit.
    func integer<Value: FixedWidthInteger>() -> Value? {
        guard mantissa.isEmpty else { return integerOfText() }
        guard digits != 0 else { return 0 }
        var digits = digits
        var left = exponent
        // The loop ends early: after at most twenty divisions there is a remainder.
        while left < 0 {
            let (quotient, remainder) = digits.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            digits = quotient
            left += 1
        }
        guard let magnitude = Value(exactly: digits) else { return nil }
        let (signed, overflow) = (0 as Value).subtractingReportingOverflow(magnitude)
        guard !(isNegative && overflow) else { return nil }
        var value = isNegative ? signed : magnitude
        while left > 0 {
            guard let next = append(0, to: value) else { return nil }
            value = next
            left -= 1
        }
        return value
    }

    private func integerOfText<Value: FixedWidthInteger>() -> Value? {
        var value: Value = 0
        // The number of digits before the point, after the exponent has moved the point.
        var whole = wholeDigits + exponent
        for byte in mantissa where byte != Byte.point {
            let digit = byte &- Byte.zero
            if whole <= 0 {
                guard digit == 0 else { return nil }
                continue
            }
            whole -= 1
            guard let next = append(Value(truncatingIfNeeded: digit), to: value) else { return nil }
            value = next
        }
        // The rest of the exponent appends zeros. A value other than 0 soon overflows.
        while whole > 0, value != 0 {
            guard let next = append(0, to: value) else { return nil }
            value = next
            whole -= 1
        }
        return value
    }

    private func append<Value: FixedWidthInteger>(_ digit: Value, to value: Value) -> Value? {
        let (product, tooGreat) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflow) =
            isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
        return tooGreat || overflow ? nil : sum
    }

    /// Returns the nearest value; nil if it would be infinite, or would be zero although the number is not zero.
    func floatingPoint<Value: BinaryFloatingPoint & LosslessStringConvertible>() -> Value? {
        guard let value = Value(shortened(to: LongNumber.enoughDigits)), value.isFinite else { return nil }
        return value == 0 && !isZero ? nil : value
    }

    /// Zero with the sign of the number, if the number rounds to zero as a `Double`; otherwise nil.
    var underflow: Double? {
        guard let value = Double(shortened(to: LongNumber.enoughDigits)), value == 0 else { return nil }
        return value
    }

    private var isZero: Bool { digits == 0 && !mantissa.contains { $0 != Byte.zero && $0 != Byte.point } }

    /// The maximum number of digits that a `Double` needs to be distinguished from its neighbours. `shortened(to:)`
    /// adds one more digit to represent the rest.
    private static let enoughDigits = 800

    /// Returns the number as text with at most `maximum` digits, and one more digit if an omitted digit is not zero.
    /// The exponent accounts for the omitted digits. Parsing a very long number completely would take more than linear
    /// time.
    func shortened(to maximum: Int) -> String {
        guard !mantissa.isEmpty else { return "\(isNegative ? "-" : "")\(digits)e\(exponent)" }
        var text: [UInt8] = isNegative ? [Byte.minus] : []
        let sign = text.count
        // The exponent of the digits read so far.
        var power = exponent + wholeDigits
        for byte in mantissa where byte != Byte.point {
            if text.count == sign, byte == Byte.zero {
                power -= 1
            } else if text.count - sign < maximum {
                text.append(byte)
            } else if byte != Byte.zero {
                text.append(UInt8(ascii: "1"))
                break
            }
        }
        if text.count == sign { return isNegative ? "-0" : "0" }
        return String(decoding: text, as: UTF8.self) + "e\(power - (text.count - sign))"
    }
}

extension Source {
    /// Returns at most the first `length` bytes of the number at `position`, as written.
    func numberText(at position: Int, upTo length: Int) -> UnsafeBufferPointer<UInt8> {
        var end = position
        while end - position < length {
            let byte = self[end]
            guard
                Byte.isDigit(byte) || byte == Byte.minus || byte == Byte.point || byte == Byte.plus
                    || byte | 0x20 == UInt8(ascii: "e")
            else { break }
            end += 1
        }
        return slice(position, end - position)
    }

    /// Returns the exponent at `position`; 0 if there is none. The exponent is clamped to a range in which additions do
    /// not overflow.
    fileprivate func exponent(at position: Int) -> Int {
        guard self[position] | 0x20 == UInt8(ascii: "e") else { return 0 }
        let isNegative = self[position + 1] == Byte.minus
        var digit = position + (isNegative || self[position + 1] == Byte.plus ? 2 : 1)
        var exponent = 0
        while Byte.isDigit(self[digit]) {
            if exponent < Int.max / 16 { exponent = exponent * 10 + Int(self[digit] - Byte.zero) }
            digit += 1
        }
        return isNegative ? -exponent : exponent
    }
}
