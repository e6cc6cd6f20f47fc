// SPDX-License-Identifier: MIT

extension Document {
    /// Returns the error for a value that could not be decoded as `type`, with the description that Foundation uses.
    ///
    /// `key` replaces the last key of the coding path.
    @inline(never)
    func failure(_ type: Any.Type, at index: Int, in parent: UInt32, key: (any CodingKey)? = nil) -> DecodingError {
        let cell = tape[index]
        let path = path(to: index, in: parent, key)
        if cell.kind == .null, type != Bool.self { return Self.null(type, path) }
        if cell.kind == .number, Self.isNumeric(type) { return Self.corrupted(unfit(cell, for: type), path) }
        return Self.mismatch(type, cell.kind, path)
    }

    /// Returns the description of the error for a number that does not fit `type`. It contains at most 64 bytes of the
    /// number, because errors are logged and a number may have millions of digits.
    func unfit(_ number: Cell, for type: Any.Type) -> String {
        let text = source.numberText(at: number.position, upTo: 65)
        let shown = String(decoding: text.prefix(64), as: UTF8.self) + (text.count > 64 ? "…" : "")
        return "Parsed JSON number <\(shown)> does not fit in \(type)."
    }

    func corrupted(_ text: String, at index: Int, in parent: UInt32) -> DecodingError {
        Self.corrupted(text, path(to: index, in: parent))
    }

    /// Returns the error for a dictionary key that would be slow to compare.
    func crowdedKey(in object: Int) -> DecodingError {
        Self.corrupted(
            "A key has more than \(CombiningMarks.maximum) combining marks in a row, too many for the key of a dictionary.",
            path(to: object))
    }

    @inline(never)
    func noContainer(_ type: Any.Type, _ name: String, at index: Int, in parent: UInt32) -> DecodingError {
        let path = path(to: index, in: parent)
        return tape[index].kind == .null
            ? Self.noContainer(type, name, path) : Self.mismatch(type, tape[index].kind, path)
    }

    /// Returns the error for a null in place of a container.
    static func noContainer(_ type: Any.Type, _ name: String, _ path: [any CodingKey]) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: path, debugDescription: "Cannot get \(name) decoding container -- found null value instead"
            ))
    }

    @inline(never)
    func missing(_ key: some CodingKey, in object: Int) -> DecodingError {
        .keyNotFound(
            key,
            DecodingError.Context(
                codingPath: path(to: object),
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    static func null(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: path, debugDescription: "Cannot get value of type \(type) -- found null value instead"))
    }

    static func mismatch(_ type: Any.Type, _ kind: Kind, _ path: [any CodingKey]) -> DecodingError {
        // Appending is faster than interpolation. A list that skips invalid elements creates this error for each of
        // them.
        var text = ""
        text.reserveCapacity(64)
        text += "Expected to decode "
        text += "\(type)"
        text += found(kind)
        return .typeMismatch(type, DecodingError.Context(codingPath: path, debugDescription: text))
    }

    static func corrupted(_ text: String, _ path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: text))
    }

    private static func found(_ kind: Kind) -> String {
        switch kind {
        case .null: " but found null instead."
        case .false, .true: " but found bool instead."
        case .number: " but found number instead."
        case .array: " but found an array instead."
        case .object: " but found a dictionary instead."
        default: " but found a string instead."
        }
    }

    private static func isNumeric(_ type: Any.Type) -> Bool { type is any (ScalarValue & Numeric).Type }
}
