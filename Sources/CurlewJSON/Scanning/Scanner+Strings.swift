// SPDX-License-Identifier: MIT

extension Scanner {
    @inline(__always)
    mutating func scanString() throws(SyntaxFailure) {
        let start = position &+ 1
        let form = try passString()
        let length = position &- 1 &- start
        let flags = form.isEscaped ? Cell.Flags.escaped.bits : 0
        guard length < 1 &<< 24 else {
            tape.append(Cell(bits: Cell(.string, at: start).bits | flags | Cell.Flags.extra.bits))
            tape.append(Cell(high: 0, low: length))
            return
        }
        let detail = UInt64(truncatingIfNeeded: length)
        tape.append(Cell(bits: Cell(.string, at: start, detail: detail).bits | flags))
    }

    /// Scans a key and its colon. Also computes the data for lookups, because the bytes are still in the processor's
    /// cache.
    @inline(__always)
    mutating func scanKey() throws(SyntaxFailure) {
        guard source[position] == Byte.quote else { throw SyntaxFailure(.unexpectedByte, at: position) }
        let start = position &+ 1
        let form = try passString()
        let length = position &- 1 &- start
        if form.isEscaped || !form.isASCII || convertsKeys || length >= Cell.longKey {
            addUncommonKey(start, length, form)
        } else {
            var hash = KeyHash(keys.seed)
            hash.add(source, start, length)
            add(Cell(.key, at: start, detail: UInt64(truncatingIfNeeded: length)), hash.value)
        }
        skipSpace()
        guard source[position] == Byte.colon else { throw SyntaxFailure(.unexpectedByte, at: position) }
        position &+= 1
    }

    @inline(__always)
    private mutating func add(_ key: Cell, _ hash: UInt64) {
        recordKey(hash)
        tape.append(Cell(bits: key.bits | UInt64(hash.keyTag) &<< 16))
    }

    @inline(never)
    private mutating func addUncommonKey(_ start: Int, _ length: Int, _ form: StringForm) {
        let shown = min(length, Cell.longKey)
        var key = Cell(.key, at: start, detail: UInt64(truncatingIfNeeded: shown))
        if form.isEscaped { key.set(.escaped) }
        if form.isEscaped || !form.isASCII {
            mark(.foreign)
            if length > 2 * CombiningMarks.maximum,
                CombiningMarks.areTooMany(in: source.text(start, length, isEscaped: form.isEscaped))
            {
                key.set(.crowded)
                mark(.crowded)
            }
            // Only the Unicode rules find the words of such a key.
            if convertsKeys { key.set(.uncommon) }
        } else if convertsKeys {
            switch SnakeCase.form(of: source, start, length) {
            case .unchanged: break
            case .uncommon: key.set(.uncommon)
            case .converted: key.set(.converted)
            }
        }
        if length >= Cell.longKey {
            tape.append(Cell(.keyLength, at: length, detail: UInt64(truncatingIfNeeded: Cell.longKey)))
        }
        add(key, keys.hash(of: key, length: length))
    }

    struct StringForm {
        let isEscaped: Bool
        let isASCII: Bool
    }

    /// Scans a string from its opening quote to the end of its closing quote.
    @inline(__always)
    private mutating func passString() throws(SyntaxFailure) -> StringForm {
        let start = position &+ 1
        position = start
        var isEscaped = false
        var seen: UInt64 = 0
        while true {
            if let word = source.word(at: position) {
                let stops = Scanner.stops(in: word)
                guard stops != 0 else {
                    seen |= word
                    position &+= 8
                    continue
                }
                let bits = UInt64(truncatingIfNeeded: stops.trailingZeroBitCount) & ~7
                seen |= word & ((1 &<< bits) &- 1)
                position &+= Int(truncatingIfNeeded: bits &>> 3)
            } else {
                // The last bytes of the document are read one by one. Past the end, the source returns 0, and that also
                // ends the loop.
                while true {
                    let byte = source[position]
                    if byte < Byte.space || byte == Byte.quote || byte == Byte.backslash { break }
                    seen |= UInt64(byte)
                    position &+= 1
                }
            }
            let byte = source[position]
            if byte == Byte.quote { break }
            guard byte == Byte.backslash else { throw failure(.controlCharacter, at: position, from: start) }
            isEscaped = true
            try passEscape(from: start)
        }
        let isASCII = seen & 0x8080_8080_8080_8080 == 0
        if !isASCII, source.firstInvalid(from: start, to: position) != nil {
            throw failure(.invalidText, at: position, from: start)
        }
        position &+= 1
        return StringForm(isEscaped: isEscaped, isASCII: isASCII)
    }

    /// Returns the error for a string: its first bytes that are not UTF-8 or, if there are none, the error at
    /// `position`.
    @inline(never)
    private func failure(_ reason: FastJSONDecoder.SyntaxError.Reason, at position: Int, from start: Int)
        -> SyntaxFailure
    {
        if let invalid = source.firstInvalid(from: start, to: position) {
            return source.isCutShort(at: invalid)
                ? SyntaxFailure(.unexpectedEnd, at: source.count) : SyntaxFailure(.invalidText, at: invalid)
        }
        return SyntaxFailure(position < source.count ? reason : .unexpectedEnd, at: position)
    }

    /// Returns a word with the highest bit set for each byte that is a quote, a backslash or a control character. Use
    /// only the lowest set bit: higher bits may be wrong, because the subtraction borrows.
    @inline(__always)
    static func stops(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* UInt64(Byte.quote))
        let backslashes = word ^ (ones &* UInt64(Byte.backslash))
        let found =
            ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
            | ((word &- (ones &* UInt64(Byte.space))) & ~word)
        return found & (ones &<< 7)
    }

    /// Scans an escape (RFC 8259 §7). Surrogates must be paired, because otherwise the string would not be valid
    /// Unicode.
    private mutating func passEscape(from start: Int) throws(SyntaxFailure) {
        switch source[position &+ 1] {
        case Byte.quote, Byte.backslash, Byte.slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            position &+= 2
        case UInt8(ascii: "u"):
            guard let unit = source.hexUnit(at: position &+ 2), !UTF16.isTrailSurrogate(unit) else {
                throw brokenEscape(from: start)
            }
            guard UTF16.isLeadSurrogate(unit) else {
                position &+= 6
                return
            }
            guard source[position &+ 6] == Byte.backslash, source[position &+ 7] == UInt8(ascii: "u"),
                let other = source.hexUnit(at: position &+ 8), UTF16.isTrailSurrogate(other)
            else { throw brokenEscape(from: start) }
            position &+= 12
        default:
            throw brokenEscape(from: start)
        }
    }

    /// Returns the error for an escape: at its backslash if it is invalid, or at the end of the document if it is cut
    /// short.
    @inline(never)
    private func brokenEscape(from start: Int) -> SyntaxFailure {
        let isCut = source.isEscapeCutShort(at: position)
        return failure(.invalidEscape, at: isCut ? source.count : position, from: start)
    }
}

extension Source {
    /// Returns whether the document ends in the middle of an escape that further bytes could complete.
    func isEscapeCutShort(at start: Int) -> Bool {
        guard start + 1 < count else { return true }
        guard self[start + 1] == UInt8(ascii: "u") else { return false }
        let digits = hexDigits(at: start + 2)
        guard digits == 4 else { return start + 2 + digits >= count && !beginsTrailSurrogate(at: start + 2) }
        guard let unit = hexUnit(at: start + 2), UTF16.isLeadSurrogate(unit) else { return false }
        guard start + 6 < count else { return true }
        guard self[start + 6] == Byte.backslash else { return false }
        guard start + 7 < count else { return true }
        guard self[start + 7] == UInt8(ascii: "u") else { return false }
        let others = hexDigits(at: start + 8)
        guard others < 4, start + 8 + others >= count else { return false }
        return others < 2 ? others == 0 || isD(start + 8) : beginsTrailSurrogate(at: start + 8)
    }

    private func isD(_ position: Int) -> Bool { self[position] | 0x20 == UInt8(ascii: "d") }

    /// Returns whether the hexadecimal digits begin a trail surrogate: D, then C to F.
    private func beginsTrailSurrogate(at position: Int) -> Bool {
        isD(position) && (Byte.hexValue(self[position + 1]) ?? 0) >= 0xC
    }

    private func hexDigits(at position: Int) -> Int {
        (0..<4).first { Byte.hexValue(self[position + $0]) == nil } ?? 4
    }

    /// Returns the value of the four hexadecimal digits after `\u`; nil if they are not four digits.
    func hexUnit(at position: Int) -> UInt16? {
        var unit: UInt32 = 0
        for offset in 0..<4 {
            guard let digit = Byte.hexValue(self[position &+ offset]) else { return nil }
            unit = unit << 4 | digit
        }
        return UInt16(truncatingIfNeeded: unit)
    }
}
