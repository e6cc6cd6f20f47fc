// SPDX-License-Identifier: MIT

/// A number as it is written, for the few that an entry does not hold. The scanner has checked its grammar.
struct NumberText {
    private let isNegative: Bool
    /// Digits, perhaps with a point among them.
    private let mantissa: UnsafeBufferPointer<UInt8>
    /// How many of the digits stand before the point.
    private let wholeDigits: Int
    /// Held to what can be added up.
    private let exponent: Int
    private let all: UnsafeBufferPointer<UInt8>

    init(_ entry: Entry, in source: Source) {
        isNegative = entry.has(.negative)
        let start = entry.place + (isNegative ? 1 : 0)
        let end: Int
        if entry.has(.long) {
            (wholeDigits, end) = (entry.wholeDigits, entry.place + entry.mantissaLength)
        } else {
            let text = source.numberText(at: start)
            wholeDigits = text.prefix { Byte.isDigit($0) }.count
            end = start + text.prefix { $0 | 0x20 != UInt8(ascii: "e") }.count
        }
        mantissa = source.slice(start, end - start)
        let power = source.numberText(at: end)
        all = source.slice(entry.place, end - entry.place + power.count)
        var exponent = 0
        var isBelowZero = false
        for byte in power {
            if byte == Byte.minus { isBelowZero = true }
            if Byte.isDigit(byte), exponent < Int.max / 16 { exponent = exponent * 10 + Int(byte - Byte.zero) }
        }
        self.exponent = isBelowZero ? -exponent : exponent
    }

    /// As it is written.
    var text: String { String(decoding: all, as: UTF8.self) }

    /// The whole number, exactly; nil if it has a fraction or does not fit.
    func integer<Value: FixedWidthInteger>() -> Value? {
        var value: Value = 0
        // How many digits stand before the point once the exponent has moved it.
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
        // What is left of the exponent; a value other than 0 overflows soon.
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

    /// The nearest value; nil if that is infinite, or 0 for a number that is not.
    func floatingPoint<Value: BinaryFloatingPoint & LosslessStringConvertible>() -> Value? {
        guard let value = Value(shortened), value.isFinite else { return nil }
        if value == 0, mantissa.contains(where: { $0 != Byte.zero && $0 != Byte.point }) { return nil }
        return value
    }

    /// No Double needs more digits than these to be told from its neighbours; one more tells if others followed.
    private static let enoughDigits = 800

    /// The text; of a very long one the first digits, with an exponent for those left out, since reading more of them
    /// takes time that grows faster than their number.
    private var shortened: String {
        guard all.count > NumberText.enoughDigits else { return text }
        var digits: [UInt8] = []
        // The exponent of the digits taken so far.
        var exponent = exponent + wholeDigits
        for byte in mantissa where byte != Byte.point {
            if digits.isEmpty, byte == Byte.zero {
                exponent -= 1
            } else if digits.count < NumberText.enoughDigits {
                digits.append(byte)
            } else if byte != Byte.zero {
                digits.append(UInt8(ascii: "1"))
                break
            }
        }
        if digits.isEmpty { return isNegative ? "-0" : "0" }
        return (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + "e\(exponent - digits.count)"
    }
}

extension Source {
    /// The text of the number that starts here, or what is left of one.
    func numberText(at place: Int) -> UnsafeBufferPointer<UInt8> {
        var end = place
        while true {
            let byte = self[end]
            guard
                Byte.isDigit(byte) || byte == Byte.minus || byte == Byte.point || byte == Byte.plus
                    || byte | 0x20 == UInt8(ascii: "e")
            else { return slice(place, end - place) }
            end += 1
        }
    }
}
