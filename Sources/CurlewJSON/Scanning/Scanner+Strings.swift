// SPDX-License-Identifier: MIT

extension Scanner {
    @inline(__always)
    mutating func scanString() throws(SyntaxFailure) {
        let start = position &+ 1
        let isEscaped = try passString()
        var entry = Entry(.string, at: start, body: UInt64(truncatingIfNeeded: position &- 1 &- start))
        if isEscaped { entry.set(.escaped) }
        tape.append(entry)
    }

    /// A key and its colon. What lookups need is worked out here, while the bytes are at hand.
    @inline(__always)
    mutating func scanKey() throws(SyntaxFailure) {
        guard source[position] == Byte.quote else { throw SyntaxFailure(.unexpectedByte, at: position) }
        let start = position &+ 1
        let isEscaped = try passString()
        let length = position &- 1 &- start
        var hash = KeyHash()
        let isASCII = hash.add(source, start, length)
        var entry = Entry(.key, at: start, body: Entry.body(high: Int(truncatingIfNeeded: hash.value), low: length))
        if isEscaped { entry.set(.escaped) }
        if isEscaped || !isASCII {
            markUncommonKeys()
        } else if convertsKeys {
            convertKey(&entry)
        }
        noteKey(entry.hash)
        tape.append(entry)
        skipSpace()
        guard source[position] == Byte.colon else { throw SyntaxFailure(.unexpectedByte, at: position) }
        position &+= 1
    }

    private mutating func convertKey(_ entry: inout Entry) {
        switch SnakeCase.form(of: source, entry.place, entry.length) {
        case .unchanged: return
        case .uncommon: markUncommonKeys()
        case .converted(let hash):
            entry.setBody(high: Int(truncatingIfNeeded: hash), low: entry.length)
            entry.set(.converted)
        }
    }

    /// From the opening quote to behind the closing one; true if there are escapes between them.
    @inline(__always)
    private mutating func passString() throws(SyntaxFailure) -> Bool {
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
                // The last bytes of the document one by one; past its end stands a 0, which stops too.
                while true {
                    let byte = source[position]
                    if byte < Byte.space || byte == Byte.quote || byte == Byte.backslash { break }
                    seen |= UInt64(byte)
                    position &+= 1
                }
            }
            let byte = source[position]
            if byte == Byte.quote { break }
            guard byte == Byte.backslash else { throw unexpectedControl() }
            isEscaped = true
            try passEscape()
        }
        if seen & 0x8080_8080_8080_8080 != 0 {
            guard source.isUTF8(from: start, to: position) else { throw SyntaxFailure(.invalidText, at: start) }
        }
        position &+= 1
        return isEscaped
    }

    /// The highest bit of each byte that is a quote, a backslash or a control character. Bits above the lowest one may
    /// be wrong, since subtraction borrows; only the lowest is used.
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

    @inline(never)
    private func unexpectedControl() -> SyntaxFailure {
        SyntaxFailure(position < source.count ? .controlCharacter : .unexpectedEnd, at: position)
    }

    /// RFC 8259 §7. Surrogates must come in pairs, or the text would not be Unicode.
    private mutating func passEscape() throws(SyntaxFailure) {
        switch source[position &+ 1] {
        case Byte.quote, Byte.backslash, Byte.slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            position &+= 2
        case UInt8(ascii: "u"):
            guard let unit = source.hexUnit(at: position &+ 2), !UTF16.isTrailSurrogate(unit) else {
                throw SyntaxFailure(.invalidEscape, at: position)
            }
            guard UTF16.isLeadSurrogate(unit) else {
                position &+= 6
                return
            }
            guard source[position &+ 6] == Byte.backslash, source[position &+ 7] == UInt8(ascii: "u"),
                let other = source.hexUnit(at: position &+ 8), UTF16.isTrailSurrogate(other)
            else { throw SyntaxFailure(.invalidEscape, at: position) }
            position &+= 12
        default:
            throw SyntaxFailure(position &+ 1 < source.count ? .invalidEscape : .unexpectedEnd, at: position)
        }
    }
}

extension Source {
    /// The four hexadecimal digits of `\u`.
    func hexUnit(at place: Int) -> UInt16? {
        var unit: UInt32 = 0
        for offset in 0..<4 {
            guard let digit = Byte.hexValue(self[place &+ offset]) else { return nil }
            unit = unit << 4 | digit
        }
        return UInt16(truncatingIfNeeded: unit)
    }
}
