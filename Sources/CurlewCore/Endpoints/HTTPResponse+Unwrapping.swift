// SPDX-License-Identifier: MIT

extension HTTPResponse {
    /// Decodes the value at the path `keys` through nested objects.
    func decoded<Value: Decodable>(as type: Value.Type, at keys: [String], using codecs: Codecs) async throws -> Value {
        // Not every codec passes user info to `init(from:)`, so a task-local value passes the keys.
        try await WrapperKeys.$current.withValue(keys) {
            try await decoded(as: Wrapped<Value>.self, using: codecs).value
        }
    }
}

private enum WrapperKeys {
    @TaskLocal static var current: [String] = []
}

private struct Wrapped<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let keys = WrapperKeys.current
        var container = try decoder.container(keyedBy: Key.self)
        for key in keys.dropLast() {
            container = try container.nestedContainer(keyedBy: Key.self, forKey: Key.written(key, in: container))
        }
        value = try container.decode(Value.self, forKey: Key.written(keys.last ?? "", in: container))
    }

    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }

        /// Returns the key as the server writes it, or in camel case if the decoder has converted the keys from snake
        /// case.
        static func written(_ key: String, in container: KeyedDecodingContainer<Key>) -> Key {
            let plain = Key(stringValue: key)
            let converted = Key(stringValue: key.camelCased)
            return !container.contains(plain) && container.contains(converted) ? converted : plain
        }
    }
}

extension String {
    /// The name in camel case: `tagged_items` becomes `taggedItems`.
    fileprivate var camelCased: String {
        var words = split(separator: "_")
        guard let first = words.first else { return self }
        words.removeFirst()
        return first + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
