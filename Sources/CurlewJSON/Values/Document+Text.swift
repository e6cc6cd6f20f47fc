// SPDX-License-Identifier: MIT

extension Document {
    /// Returns a string; nil if the value is of another kind.
    @inline(__always)
    func string(at index: Int) -> String? {
        tape[index].kind == .string ? text(at: index) : nil
    }

    /// Returns the text of a string. The value must be a string.
    @inline(__always)
    func text(at index: Int) -> String {
        let cell = tape[index]
        return source.text(cell.place, tape.stringLength(at: index), isEscaped: cell.has(.escaped))
    }
}

extension Source {
    /// Returns the text of a string or of a key.
    @inline(__always)
    func text(_ place: Int, _ length: Int, isEscaped: Bool) -> String {
        if isEscaped { return unescaped(place, length) }
        let bytes = slice(place, length)
        guard bytes.count < 16 else { return String(decoding: bytes, as: UTF8.self) }
        // Short strings are stored inline. This initializer is a third faster for them.
        return String(unsafeUninitializedCapacity: bytes.count) { output in
            _ = output.update(fromContentsOf: bytes)
            return bytes.count
        }
    }

    /// Returns a string with its escapes resolved. The scanner has validated the escapes. Resolving them never makes
    /// the string longer.
    @inline(never)
    private func unescaped(_ start: Int, _ length: Int) -> String {
        let end = start + length
        return String(unsafeUninitializedCapacity: length) { output in
            var writer = Writer(output: output)
            var place = start
            while place < end {
                let length = plainLength(from: place, to: end)
                writer.append(slice(place, length))
                place += length
                if place < end { place = resolveEscape(at: place) { writer.append($0) } }
            }
            return writer.count
        }
    }

    /// Passes the bytes of a string or key to `body`, with escapes resolved, until `body` returns false.
    func forEachUnescapedByte(_ start: Int, _ length: Int, _ body: (UInt8) -> Bool) {
        let end = start + length
        var place = start
        var goesOn = true
        while goesOn, place < end {
            if self[place] == Byte.backslash {
                place = resolveEscape(at: place) { if goesOn { goesOn = body($0) } }
            } else {
                goesOn = body(self[place])
                place += 1
            }
        }
    }

    /// A writer into preallocated memory. It never writes beyond the end of the memory.
    private struct Writer {
        let output: UnsafeMutableBufferPointer<UInt8>
        var count = 0

        mutating func append(_ byte: UInt8) {
            guard count < output.count else { return }
            output[count] = byte
            count += 1
        }

        mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
            let length = min(bytes.count, output.count - count)
            guard length > 0, let from = bytes.baseAddress, let to = output.baseAddress else { return }
            (to + count).update(from: from, count: length)
            count += length
        }
    }

    /// Returns the number of bytes from `start` that precede a backslash.
    private func plainLength(from start: Int, to end: Int) -> Int {
        var place = start
        while place &+ 8 <= end, let word = word(at: place) {
            // Quotes are escaped and control characters are forbidden, so that only backslashes match.
            let stops = Scanner.stops(in: word)
            if stops != 0 { return place &+ stops.trailingZeroBitCount / 8 &- start }
            place &+= 8
        }
        while place < end, self[place] != Byte.backslash { place &+= 1 }
        return place &- start
    }

    /// Passes the resolved bytes of an escape to `write`, and returns the offset after the escape.
    @inline(__always)
    private func resolveEscape(at place: Int, _ write: (UInt8) -> Void) -> Int {
        let letter = self[place &+ 1]
        switch letter {
        case UInt8(ascii: "b"): write(0x08)
        case UInt8(ascii: "f"): write(0x0C)
        case UInt8(ascii: "n"): write(Byte.newline)
        case UInt8(ascii: "r"): write(Byte.carriageReturn)
        case UInt8(ascii: "t"): write(Byte.tab)
        case UInt8(ascii: "u"):
            guard let unit = hexUnit(at: place &+ 2) else { return place &+ 2 }
            guard UTF16.isLeadSurrogate(unit), let other = hexUnit(at: place &+ 8) else {
                encode(UInt32(unit), write)
                return place &+ 6
            }
            let high = UInt32(unit & 0x3FF)
            encode(0x1_0000 + (high << 10 | UInt32(other & 0x3FF)), write)
            return place &+ 12
        default: write(letter)
        }
        return place &+ 2
    }

    private func encode(_ value: UInt32, _ write: (UInt8) -> Void) {
        guard let scalar = Unicode.Scalar(value) else { return }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { write(byte) }
    }
}
