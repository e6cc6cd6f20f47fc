// SPDX-License-Identifier: MIT

/// An endpoint whose answer sits inside a wrapper object.
///
///     struct Questions: WrappedEndpoint {             // {"items": [{"title": …}, …], "has_more": true}
///         typealias Response = [Question]
///         let tag: String
///         var wrapper: String { "items" }
///         var path: RequestPath { "/questions" }
///         var query: QueryItems { ["tagged": tag] }
///     }
///
/// Where the other members matter too, make the wrapper a model of its own and the response of a plain endpoint.
public protocol WrappedEndpoint: Endpoint where Response: Decodable {
    /// The member that holds the answer, as the server writes it.
    var wrapper: String { get }
}

extension WrappedEndpoint {
    /// The value under `wrapper`.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Response {
        try await response.decoded(as: Response.self, at: [wrapper], using: codecs)
    }
}

extension HTTPResponse {
    /// The value under `keys`, one object inside the other.
    func decoded<Value: Decodable>(as type: Value.Type, at keys: [String], using codecs: Codecs) async throws -> Value {
        // Decoders hand nothing from the caller to `init(from:)` that every codec would pass on; a task-local does.
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

        /// A decoder that converts from snake case shows its keys converted.
        static func written(_ key: String, in container: KeyedDecodingContainer<Key>) -> Key {
            let plain = Key(stringValue: key)
            let converted = Key(stringValue: key.camelCased)
            return !container.contains(plain) && container.contains(converted) ? converted : plain
        }
    }
}

extension String {
    /// `tagged_items` as `taggedItems`.
    fileprivate var camelCased: String {
        var words = split(separator: "_")
        guard let first = words.first else { return self }
        words.removeFirst()
        return first + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
