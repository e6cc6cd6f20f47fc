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
        return source.text(cell.position, tape.stringLength(at: index), isEscaped: cell.has(.escaped))
    }
}

extension Source {
    /// Returns the text of a string or of a key.
    @inline(__always)
    func text(_ position: Int, _ length: Int, isEscaped: Bool) -> String {
        if isEscaped { return unescaped(position, length) }
        let bytes = slice(position, length)
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
            var position = start
            while position < end {
                let length = plainLength(from: position, to: end)
                writer.append(slice(position, length))
                position += length
                if position < end { position = resolveEscape(at: position) { writer.append($0) } }
            }
            return writer.count
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
        var position = start
        while position &+ 8 <= end, let word = word(at: position) {
            // Quotes are escaped and control characters are forbidden, so that only backslashes match.
            let stops = Scanner.stops(in: word)
            if stops != 0 { return position &+ stops.trailingZeroBitCount / 8 &- start }
            position &+= 8
        }
        while position < end, self[position] != Byte.backslash { position &+= 1 }
        return position &- start
    }

    /// Passes the resolved bytes of an escape to `write`, and returns the offset after the escape.
    @inline(__always)
    private func resolveEscape(at position: Int, _ write: (UInt8) -> Void) -> Int {
        let letter = self[position &+ 1]
        switch letter {
        case UInt8(ascii: "b"): write(0x08)
        case UInt8(ascii: "f"): write(0x0C)
        case UInt8(ascii: "n"): write(Byte.newline)
        case UInt8(ascii: "r"): write(Byte.carriageReturn)
        case UInt8(ascii: "t"): write(Byte.tab)
        case UInt8(ascii: "u"):
            guard let unit = hexUnit(at: position &+ 2) else { return position &+ 2 }
            guard UTF16.isLeadSurrogate(unit), let other = hexUnit(at: position &+ 8) else {
                encode(UInt32(unit), write)
                return position &+ 6
            }
            let high = UInt32(unit & 0x3FF)
            encode(0x1_0000 + (high << 10 | UInt32(other & 0x3FF)), write)
            return position &+ 12
        default: write(letter)
        }
        return position &+ 2
    }

    private func encode(_ value: UInt32, _ write: (UInt8) -> Void) {
        guard let scalar = Unicode.Scalar(value) else { return }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { write(byte) }
    }
}
