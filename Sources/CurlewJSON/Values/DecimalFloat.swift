// SPDX-License-Identifier: MIT

/// Converts `digits × 10^exponent` to the nearest `Double`.
///
/// Small numbers need only one multiplication or division, and it rounds once. All other numbers use the Eisel-Lemire
/// algorithm ("Number Parsing at a Gigabyte per Second", 2021): the upper bits of the product with a 128-bit power of
/// five determine the result. It is proven that these bits suffice for 19 digits.
enum DecimalFloat {
    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// Returns the nearest `Double`; nil if it would be infinite, or would be zero although the number is not zero.
    @inline(__always)
    static func double(digits: UInt64, exponent: Int) -> Double? {
        if digits <= 1 << 53, exponent >= -22, exponent <= 22 {
            let value = Double(digits)
            if exponent == 0 { return value }
            return exponent < 0 ? value / exactPowers[-exponent] : value * exactPowers[exponent]
        }
        return rounded(digits, exponent)
    }

    @inline(never)
    private static func rounded(_ digits: UInt64, _ exponent: Int) -> Double? {
        guard digits != 0 else { return 0 }
        guard exponent >= PowersOfFive.minimum, exponent <= PowersOfFive.maximum else { return nil }
        let shift = digits.leadingZeroBitCount
        let (high, low) = product(digits << UInt64(shift), exponent)
        let upper = Int(high >> 63)
        // The product is cut to 53 bits of the result, one for rounding, and one because the product may begin with a
        // zero.
        let cut = UInt64(upper + 9)
        var bits = high >> cut
        // The first term is floor(exponent × log2(10)); 1023 is the bias of a `Double`.
        var power = ((217_706 * exponent) >> 16) + 63 + upper - shift + 1023
        if power <= 0 {
            // Subnormal numbers have fewer bits.
            guard power > -63 else { return nil }
            bits >>= UInt64(1 - power)
            bits = (bits + (bits & 1)) >> 1
            return bits == 0 ? nil : Double(bitPattern: bits)
        }
        // For small powers, the number may be half way between two neighbours. It is then rounded to even.
        if low <= 1, exponent >= -4, exponent <= 23, bits & 3 == 1, bits << cut == high { bits &= ~1 }
        bits = (bits + (bits & 1)) >> 1
        if bits >> 53 != 0 {
            bits = 1 << 52
            power += 1
        }
        guard power < 0x7FF else { return nil }
        return Double(bitPattern: (bits & ~(1 << 52)) | UInt64(power) << 52)
    }

    /// Returns the upper 128 bits of the product of the digits and a power of five, as exactly as rounding requires.
    @inline(__always)
    private static func product(_ digits: UInt64, _ exponent: Int) -> (high: UInt64, low: UInt64) {
        let power = PowersOfFive.value(exponent)
        var (high, low) = digits.multipliedFullWidth(by: power.high)
        // The lower half of the power can carry into these bits only if all the bits below are set.
        if high & 0x1FF == 0x1FF {
            let second = digits.multipliedFullWidth(by: power.low).high
            let (sum, carry) = low.addingReportingOverflow(second)
            low = sum
            if carry { high += 1 }
        }
        return (high, low)
    }
}

/// The upper 128 bits of the powers of five that a `Double` can require, normalized so that the highest bit is set.
///
/// The table is computed when it is first used, in much less than a millisecond. The source would otherwise list 1,302
/// numbers. Positive powers are multiplied and truncated. For negative powers, 2^1023 is divided by five repeatedly:
/// truncating after each step gives the same result as truncating once.
enum PowersOfFive {
    static let minimum = -342
    static let maximum = 308

    private static let table: [UInt64] = {
        var table = [UInt64](repeating: 0, count: 2 * (maximum - minimum + 1))
        var number: [UInt32] = [1]
        for exponent in 0...maximum {
            store(top(of: number), exponent, &table)
            multiplyByFive(&number)
        }
        number = [UInt32](repeating: 0, count: 31) + [1 << 31]
        for exponent in stride(from: -1, through: minimum, by: -1) {
            divideByFive(&number)
            var value = top(of: number)
            // Down to this exponent, the product can be exact. The reciprocal has to be rounded up so that exact
            // products are recognized.
            if exponent >= -27 {
                let (low, carry) = value.low.addingReportingOverflow(1)
                value = (value.high + (carry ? 1 : 0), low)
            }
            store(value, exponent, &table)
        }
        return table
    }()

    @inline(__always)
    static func value(_ exponent: Int) -> (high: UInt64, low: UInt64) {
        let index = 2 * (exponent - minimum)
        return (table[index], table[index + 1])
    }

    private static func store(_ value: (high: UInt64, low: UInt64), _ exponent: Int, _ table: inout [UInt64]) {
        let index = 2 * (exponent - minimum)
        table[index] = value.high
        table[index + 1] = value.low
    }

    /// Multiplies a number of 32-bit digits, the least significant first, by five.
    private static func multiplyByFive(_ number: inout [UInt32]) {
        var carry: UInt64 = 0
        for index in number.indices {
            let product = UInt64(number[index]) * 5 + carry
            number[index] = UInt32(truncatingIfNeeded: product)
            carry = product >> 32
        }
        if carry > 0 { number.append(UInt32(carry)) }
    }

    private static func divideByFive(_ number: inout [UInt32]) {
        var remainder: UInt64 = 0
        for index in number.indices.reversed() {
            let value = remainder << 32 | UInt64(number[index])
            number[index] = UInt32(truncatingIfNeeded: value / 5)
            remainder = value % 5
        }
    }

    private static func top(of number: [UInt32]) -> (high: UInt64, low: UInt64) {
        let last = number.lastIndex { $0 != 0 } ?? 0
        func word(_ offset: Int) -> UInt64 { last >= offset ? UInt64(number[last - offset]) : 0 }
        let shift = UInt64(UInt32(word(0)).leadingZeroBitCount)
        let first = word(0) << 32 | word(1)
        let second = word(2) << 32 | word(3)
        let third = word(4) << 32
        return (first << shift | second >> (64 - shift), second << shift | third >> (64 - shift))
    }
}
