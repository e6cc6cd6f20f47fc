// SPDX-License-Identifier: MIT

package import CurlewFoundation
import CurlewHTTP

extension HTTPResponse {
    /// Reads the body and decodes it with the codec for its media type. `Data` and `String` are the body itself.
    ///
    /// Endpoints use this method by default, and a custom `decode` may call it. For an Optional, an empty body is nil.
    /// Throws `NetworkError`: `.badResponse` for an empty body of any other decoded type, `.decoding` with the
    /// response, and the errors of `ResponseBody.collect(upTo:)`, such as `.invalidRequest` for a second read.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, using codecs: Codecs = .json
    ) async throws -> Value {
        try value(of: try await body.collect(), as: type, using: codecs)
    }

    /// Decodes the value. Not async, so that its temporary values are on the stack of the thread.
    private func value<Value: Decodable>(of data: Data, as type: Value.Type, using codecs: Codecs) throws -> Value {
        if type == Data.self, let raw = data as? Value { return raw }
        if type == String.self, let raw = Self.text(of: data, mediaType: mediaType) as? Value { return raw }
        guard !data.isEmpty else { return try emptyValue(as: type) }
        if type == Data?.self, let raw = data as? Value { return raw }
        if type == String?.self, let raw = Self.text(of: data, mediaType: mediaType) as? Value { return raw }
        do {
            return try codecs.decode(type, from: data, mediaType: mediaType)
        } catch {
            throw decodingError(error, expected: type, data)
        }
    }

    private func emptyValue<Value>(as type: Value.Type) throws(NetworkError) -> Value {
        if let absent = absentValue(of: type) { return absent }
        throw NetworkError(
            .badResponse, detail: "The \(status) response has no body, but \(type) is expected.",
            hint: "If this is correct, make the response type Optional or Void.", response: errorResponse(Data()))
    }

    private func decodingError(_ error: any Error, expected type: Any.Type, _ data: Data) -> NetworkError {
        if let error = error as? NetworkError { return error }
        var detail = NetworkError.quoted((error as? DecodingError)?.explanation ?? "\(error)", upTo: 1000)
        var hint: String?
        if let mediaType, mediaType.essence == "text/html" {
            detail = "The server sent text/html, but \(type) is expected. \(detail)"
            hint = "A web page instead of data often means a wrong URL, a login page or a proxy."
        } else {
            detail = "The body is not \(type). \(detail)"
        }
        return NetworkError(.decoding, detail: detail, hint: hint, response: errorResponse(data), underlying: error)
    }

    /// Returns the head and `data` for an error. The caller truncates the data to its limits.
    func errorResponse(_ data: Data) -> NetworkError.Response {
        NetworkError.Response(status: status, headers: headers, body: data)
    }

    /// Returns the head and the beginning of `data`, up to `Limits.errorExcerpt`, for an error of a call.
    package func errorResponse(_ data: Data?, in context: ExchangeContext) -> NetworkError.Response {
        var excerpt = NetworkError.Response.Excerpt(limit: context.limits.errorExcerpt)
        if let data { _ = excerpt.append(data) }
        return errorResponse(excerpt, in: context)
    }

    /// Returns the head and the first bytes of the body for an error of a call.
    func errorResponse(
        _ excerpt: NetworkError.Response.Excerpt, in context: ExchangeContext
    ) -> NetworkError.Response {
        NetworkError.Response(
            status: status, headers: headers, body: excerpt.data, isTruncated: excerpt.isTruncated,
            date: context.time.date, reasonPhrase: reasonPhrase)
    }
}

/// Returns the nil value of `type` if it is an Optional, otherwise nil.
func absentValue<Value>(of type: Value.Type) -> Value? {
    (type as? any OptionalValue.Type)?.absent as? Value
}

private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var absent: Self { nil }
}

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
        var words = parts("_")
        guard let first = words.first else { return self }
        words.removeFirst()
        return first + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
