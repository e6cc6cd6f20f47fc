// SPDX-License-Identifier: MIT

extension Document {
    /// Why a value could not be read as a type, in the words of Foundation.
    ///
    /// `key` takes the place of the last element of the path.
    @inline(never)
    func failure(_ type: Any.Type, at index: Int, key: (any CodingKey)? = nil) -> DecodingError {
        let entry = tape[index]
        let path = path(to: index, key)
        if entry.kind == .null, type != Bool.self { return Self.null(type, path) }
        if entry.kind == .number, Self.isNumeric(type) {
            let text = NumberText(entry, in: source).text
            return Self.corrupted("Parsed JSON number <\(text)> does not fit in \(type).", path)
        }
        return Self.mismatch(type, entry.kind, path)
    }

    func path(to index: Int, _ key: (any CodingKey)?) -> [any CodingKey] {
        var path = path(to: index)
        if let key, !path.isEmpty { path[path.count - 1] = key }
        return path
    }

    func corrupted(_ text: String, at index: Int) -> DecodingError { Self.corrupted(text, path(to: index)) }

    @inline(never)
    func noContainer(_ type: Any.Type, _ name: String, at index: Int) -> DecodingError {
        let path = path(to: index)
        guard tape[index].kind == .null else { return Self.mismatch(type, tape[index].kind, path) }
        return .valueNotFound(
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
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: path, debugDescription: "Expected to decode \(type) but found \(name(of: kind)) instead."))
    }

    static func corrupted(_ text: String, _ path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: text))
    }

    private static func name(of kind: Kind) -> String {
        switch kind {
        case .null: "null"
        case .false, .true: "bool"
        case .number: "number"
        case .array: "an array"
        case .object: "a dictionary"
        default: "a string"
        }
    }

    private static func isNumeric(_ type: Any.Type) -> Bool { type is any (ScalarValue & Numeric).Type }
}
