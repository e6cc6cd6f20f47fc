// SPDX-License-Identifier: MIT

extension Document {
    /// A string; nil if the value is something else.
    @inline(__always)
    func string(at index: Int) -> String? {
        tape[index].kind == .string ? text(at: index) : nil
    }

    /// The text of a string or of a key.
    @inline(__always)
    func text(at index: Int) -> String {
        let entry = tape[index]
        if entry.has(.escaped) { return unescaped(entry) }
        return String(decoding: source.slice(entry.place, entry.length), as: UTF8.self)
    }

    /// The scanner has checked the escapes. A text gets no longer by resolving them.
    @inline(never)
    private func unescaped(_ entry: Entry) -> String {
        let end = entry.place + entry.length
        return String(unsafeUninitializedCapacity: entry.length) { output in
            var writer = Writer(output: output)
            var place = entry.place
            while place < end {
                let length = source.plainLength(from: place, to: end)
                writer.append(source.slice(place, length))
                place += length
                if place < end { place = source.resolveEscape(at: place, &writer) }
            }
            return writer.count
        }
    }

    /// Writes into memory that was asked for, and never beyond its end.
    fileprivate struct Writer {
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

        mutating func append(scalar: UInt32) {
            guard let scalar = Unicode.Scalar(scalar) else { return }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { append(byte) }
        }
    }
}

extension Source {
    /// The bytes from here that are no backslash.
    fileprivate func plainLength(from start: Int, to end: Int) -> Int {
        var place = start
        while place &+ 8 <= end, let word = word(at: place) {
            // Quotes are escaped and control characters forbidden, so that only backslashes stop here.
            let stops = Scanner.stops(in: word)
            if stops != 0 { return place &+ stops.trailingZeroBitCount / 8 &- start }
            place &+= 8
        }
        while place < end, self[place] != Byte.backslash { place &+= 1 }
        return place &- start
    }

    /// Writes what the escape stands for, and returns the place behind it.
    fileprivate func resolveEscape(at place: Int, _ writer: inout Document.Writer) -> Int {
        let letter = self[place &+ 1]
        switch letter {
        case UInt8(ascii: "b"): writer.append(0x08)
        case UInt8(ascii: "f"): writer.append(0x0C)
        case UInt8(ascii: "n"): writer.append(Byte.newline)
        case UInt8(ascii: "r"): writer.append(Byte.carriageReturn)
        case UInt8(ascii: "t"): writer.append(Byte.tab)
        case UInt8(ascii: "u"):
            guard let unit = hexUnit(at: place &+ 2) else { return place &+ 2 }
            guard UTF16.isLeadSurrogate(unit), let other = hexUnit(at: place &+ 8) else {
                writer.append(scalar: UInt32(unit))
                return place &+ 6
            }
            let high = UInt32(unit & 0x3FF)
            writer.append(scalar: 0x1_0000 + (high << 10 | UInt32(other & 0x3FF)))
            return place &+ 12
        default: writer.append(letter)
        }
        return place &+ 2
    }
}
