// SPDX-License-Identifier: MIT

extension Scanner {
    /// Scans a number (RFC 8259 §6). The value of the digits is computed here, because the grammar check reads them
    /// anyway.
    @inline(__always)
    mutating func scanNumber() throws(SyntaxFailure) {
        let start = position
        let isNegative = source[position] == Byte.minus
        if isNegative { position &+= 1 }
        let first = position
        var digits: UInt64 = 0
        addDigits(&digits)
        var count = position &- first
        guard count > 0, source[first] != Byte.zero || count == 1 else {
            // A leading zero, or no digit at all.
            if count > 0 { throw SyntaxFailure(.invalidNumber, at: first &+ 1) }
            throw brokenNumber()
        }
        let wholeDigits = count
        var exponent = 0
        if source[position] == Byte.point {
            position &+= 1
            let fraction = position
            addDigits(&digits)
            exponent = fraction &- position
            guard exponent < 0 else { throw brokenNumber() }
            count &-= exponent
        }
        let mantissaEnd = position
        if source[position] | 0x20 == UInt8(ascii: "e") { exponent &+= try scanExponent() }
        // Nineteen digits fit 64 bits. Leading zeros do not count, but few numbers have them.
        if count > 19 { count &-= source.leadingZeros(from: first) }
        let sign = isNegative ? Cell.Flags.negative.bits : 0
        if exponent == 0, digits < 1 &<< 24, count <= 19 {
            tape.append(Cell(bits: Cell(.number, at: start, detail: digits).bits | sign))
            return
        }
        guard count <= 19, let power = Int16(exactly: exponent) else {
            let flags = sign | Cell.Flags.extra.bits | Cell.Flags.long.bits
            tape.append(Cell(bits: Cell(.number, at: start).bits | flags))
            tape.append(Cell(high: wholeDigits, low: mantissaEnd &- start))
            return
        }
        let detail = UInt64(UInt16(bitPattern: power))
        tape.append(Cell(bits: Cell(.number, at: start, detail: detail).bits | sign | Cell.Flags.extra.bits))
        tape.append(Cell(bits: digits))
    }

    /// Returns the error for a missing digit at `position`.
    @inline(never)
    private func brokenNumber() -> SyntaxFailure {
        SyntaxFailure(position < source.count ? .invalidNumber : .unexpectedEnd, at: position)
    }

    @inline(__always)
    private mutating func addDigits(_ digits: inout UInt64) {
        let first = position
        while true {
            if position &- first == 8 { addEightDigits(&digits) }
            let digit = source[position] &- Byte.zero
            guard digit < 10 else { return }
            digits = digits &* 10 &+ UInt64(digit)
            position &+= 1
        }
    }

    /// Adds digits eight at a time. A number with eight digits often has many more.
    @inline(never)
    private mutating func addEightDigits(_ digits: inout UInt64) {
        while let word = source.word(at: position) {
            let ones: UInt64 = 0x0101_0101_0101_0101
            // The upper half of each byte must be 3, and remain 3 when 6 is added to the lower half.
            guard (word & (word &+ ones &* 0x06)) & (ones &* 0xF0) == ones &* 0x30 else { return }
            // Adjacent digits are combined into pairs, then pairs of pairs, then the two halves.
            var value = word & (ones &* 0x0F)
            value = (value &* 10 &+ (value &>> 8)) & 0x00FF_00FF_00FF_00FF
            value = (value &* 100 &+ (value &>> 16)) & 0x0000_FFFF_0000_FFFF
            value = (value &* 10_000 &+ (value &>> 32)) & 0xFFFF_FFFF
            digits = digits &* 100_000_000 &+ value
            position &+= 8
        }
    }

    private mutating func scanExponent() throws(SyntaxFailure) -> Int {
        position &+= 1
        let isNegative = source[position] == Byte.minus
        if isNegative || source[position] == Byte.plus { position &+= 1 }
        let first = position
        var exponent = 0
        while Byte.isDigit(source[position]) {
            // A larger exponent would not change the result.
            if exponent < Int.max / 16 { exponent = exponent &* 10 &+ Int(source[position] &- Byte.zero) }
            position &+= 1
        }
        guard position > first else { throw brokenNumber() }
        return isNegative ? -exponent : exponent
    }
}

extension Source {
    /// Returns the number of zeros before the first digit of a number that is not zero.
    func leadingZeros(from position: Int) -> Int {
        var position = position
        var zeros = 0
        while self[position] == Byte.zero || self[position] == Byte.point {
            if self[position] == Byte.zero { zeros += 1 }
            position += 1
        }
        return zeros
    }
}
