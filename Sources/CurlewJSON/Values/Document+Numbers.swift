// SPDX-License-Identifier: MIT

extension Document {
    @inline(__always)
    func bool(at index: Int) -> Bool? {
        let kind = tape[index].kind
        if kind == .true { return true }
        return kind == .false ? false : nil
    }

    /// An integer of at most 64 bits; nil if the value is no number, or one that does not fit.
    @inline(__always)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at index: Int) -> Value? {
        let entry = tape[index]
        guard entry.kind == .number else { return nil }
        guard entry.isWhole else { return uncommonInteger(type, entry) }
        return signed(entry.digits, entry.has(.negative))
    }

    @inline(__always)
    private func signed<Value: FixedWidthInteger>(_ digits: UInt64, _ isNegative: Bool) -> Value? {
        guard isNegative else { return Value(exactly: digits) }
        // Also right for the smallest value, whose digits alone do not fit.
        guard digits <= 1 << 63 else { return nil }
        return Value(exactly: Int64(truncatingIfNeeded: 0 &- digits))
    }

    /// Numbers with a fraction or an exponent, which may still be whole: `1.0`, `1e3`. Exact, never by way of Double.
    @inline(never)
    private func uncommonInteger<Value: FixedWidthInteger>(_ type: Value.Type, _ entry: Entry) -> Value? {
        if entry.has(.long) { return wideInteger(type, entry) }
        guard entry.digits != 0 else { return 0 }
        var digits = entry.digits
        // Twenty digits fit in no 64 bits.
        guard abs(entry.exponent) < 20 else { return nil }
        for _ in 0..<abs(entry.exponent) {
            if entry.exponent > 0 {
                let (product, overflow) = digits.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                digits = product
            } else {
                let (quotient, remainder) = digits.quotientAndRemainder(dividingBy: 10)
                guard remainder == 0 else { return nil }
                digits = quotient
            }
        }
        return signed(digits, entry.has(.negative))
    }

    /// An integer of any width, from the text.
    @inline(never)
    func wideInteger<Value: FixedWidthInteger>(_ type: Value.Type, _ entry: Entry) -> Value? {
        NumberText(entry, in: source).integer()
    }

    @inline(__always)
    func double(at index: Int) -> Double? {
        let entry = tape[index]
        guard entry.kind == .number else { return nil }
        return double(entry)
    }

    /// Nil if the number is too great, or not zero but too small, as with Foundation.
    @inline(__always)
    private func double(_ entry: Entry) -> Double? {
        if !entry.has(.long) {
            guard let value = DecimalFloat.double(digits: entry.digits, exponent: entry.exponent) else { return nil }
            return entry.has(.negative) ? -value : value
        }
        return longDouble(entry)
    }

    @inline(never)
    private func longDouble(_ entry: Entry) -> Double? {
        NumberText(entry, in: source).floatingPoint()
    }

    func float(at index: Int) -> Float? {
        let entry = tape[index]
        guard entry.kind == .number, let double = double(entry) else { return nil }
        // Rounding twice is wrong only if the first time ended half way between two floats, or below the normal ones.
        let isHalfWay = double.bitPattern & 0x1FFF_FFFF == 0x1000_0000
        let magnitude = double.magnitude
        if !isHalfWay, magnitude == 0 || magnitude > Double(Float.leastNormalMagnitude) {
            let float = Float(double)
            return float.isFinite ? float : nil
        }
        return NumberText(entry, in: source).floatingPoint()
    }
}
