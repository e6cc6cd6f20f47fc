// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP
public import CurlewJSON

/// A codec for one media type, which encodes values as bytes and decodes them.
///
/// Implement it for another format (property lists, CBOR, protocol buffers) and add it with `Codecs.adding(_:)`. Calls
/// use the methods from several threads concurrently, never on the main actor. `APIClient.request(for:)` and
/// `NetworkError.body(as:codecs:)` use them on the thread of the caller.
public protocol ContentCodec: Sendable {
    /// The media type of the encoded bytes. The codec decodes responses with this type, whatever their parameters.
    var mediaType: MediaType { get }
    /// Decodes a value from `data`, the complete body. Calls throw `.decoding` for any error but a `NetworkError`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
    /// Encodes `value` as a complete body. Calls throw `.encoding` for any error but a `NetworkError`.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// The codecs of a client: a default codec, and others selected by the media type of the response.
///
/// Create it once per client. All calls share it.
public struct Codecs: Sendable {
    /// The default codec: decodes responses whose media type no other codec has, and encodes contents of its own.
    public var primary: any ContentCodec { list.value.primary }
    /// The value of the `Accept` field for these codecs.
    var accept: String { list.value.accept }
    private let list: Boxed<List>

    /// Creates JSON codecs that decode with `FastJSONDecoder` and encode with Foundation's encoder. The decoder is
    /// several times faster than Foundation's and returns the same values, but for the exceptions that it lists.
    ///
    /// Concurrent calls share the encoder: do not change it after you have passed it.
    public init(decoder: FastJSONDecoder = FastJSONDecoder(), encoder: JSONEncoder = JSONEncoder()) {
        self.init(primary: JSONCodec(decoder: decoder, encoder: encoder))
    }

    /// Creates JSON codecs that use Foundation's coders as configured, for strategies that `FastJSONDecoder` does not
    /// have.
    ///
    /// Concurrent calls share the coders: do not change them after you have passed them.
    public init(decoder: JSONDecoder, encoder: JSONEncoder = JSONEncoder()) {
        self.init(primary: JSONCodec(decoder: decoder, encoder: encoder))
    }

    /// Creates codecs with `primary` as the default codec. `Accept` contains its media type.
    public init(primary: any ContentCodec) {
        self.init(List(primary: primary, others: [], accept: primary.mediaType.essence))
    }

    private init(_ list: List) {
        self.list = Boxed(list)
    }

    /// Returns these codecs with `codec` added. For its media type, `codec` takes precedence over the default codec and
    /// over codecs that were added earlier: it decodes responses, and encodes contents such as `.encoded(_:as:)` and,
    /// for JSON, `.json(_:)`. `Accept` also names its media type, with `q=0.9`. The default codec stays the same.
    public func adding(_ codec: any ContentCodec) -> Codecs {
        Codecs(
            List(
                primary: primary, others: [codec] + list.value.others,
                accept: accept + ", \(codec.mediaType.essence);q=0.9"))
    }

    /// Decodes a value from `data` with the codec for `mediaType`, or with the default codec if there is none. Throws
    /// the error of the codec.
    ///
    /// `mediaType` is evaluated only when there is more than one codec.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, mediaType: @autoclosure () -> MediaType?
    ) throws -> Value {
        guard !list.value.others.isEmpty, let mediaType = mediaType() else {
            return try primary.decode(type, from: data)
        }
        return try (codec(for: mediaType) ?? primary).decode(type, from: data)
    }

    /// Encodes `value` with the default codec. Throws the error of the codec.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try primary.encode(value)
    }

    /// Returns the codec for `mediaType`; nil if there is none.
    func codec(for mediaType: MediaType) -> (any ContentCodec)? {
        if let other = list.value.others.first(where: { mediaType.essence == $0.mediaType.essence }) { return other }
        return mediaType.essence == primary.mediaType.essence ? primary : nil
    }

    /// The codec for JSON inside of another format, such as JSON Lines: an added JSON codec, else the primary one if
    /// its media type is a kind of JSON, else plain JSON.
    package var jsonCodec: any ContentCodec {
        codec(for: .json) ?? (primary.mediaType.isJSON ? primary : Codecs.json.primary)
    }

    /// The storage of `Codecs`. It is in one shared object, because every call holds a copy of `Codecs`.
    private struct List: Sendable {
        let primary: any ContentCodec
        let others: [any ContentCodec]
        let accept: String
    }
}

/// A codec that can also decode a slice of `Data`, whose first index may not be zero.
package protocol SliceCodec: ContentCodec {}

/// The JSON codec: one of two decoders, and Foundation's encoder.
struct JSONCodec<Reader: JSONReader>: SliceCodec {
    let decoder: Reader
    let encoder: JSONEncoder

    var mediaType: MediaType { .json }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decoder.decode(type, from: data)
    }

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        if let document = value as? JSONValue, let data = written(document) { return data }
        return try encoder.encode(value)
    }

    /// Returns the encoded document with its members in their original order; nil if the options of the encoder require
    /// Foundation's implementation.
    private func written(_ document: JSONValue) -> Data? {
        guard encoder.outputFormatting.isSubset(of: .withoutEscapingSlashes) else { return nil }
        switch encoder.keyEncodingStrategy {
        case .useDefaultKeys: return document.encoded()
        case .convertToSnakeCase: return document.encoded(convertsToSnakeCase: true)
        default: return nil
        }
    }
}

/// The common interface of the two JSON decoders.
protocol JSONReader: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: JSONReader {}
extension FastJSONDecoder: JSONReader {}

extension Codecs {
    /// JSON with unchanged keys, and dates in the default encoding of `Date` (seconds since 2001).
    public static let json = Codecs()

    /// JSON with ISO 8601 dates (fractions of a second only when decoding) and keys in snake case (`created_at`).
    public static let snakeCase = json(
        FastJSONDecoder(keys: .convertFromSnakeCase, dates: .iso8601WithOrWithoutFractions), .iso8601,
        .convertToSnakeCase)

    /// JSON with ISO 8601 dates (fractions of a second only when decoding) and unchanged keys.
    public static let iso8601 = json(FastJSONDecoder(dates: .iso8601WithOrWithoutFractions), .iso8601)

    /// JSON with dates as seconds since 1970 and unchanged keys.
    public static let secondsSince1970 = json(FastJSONDecoder(dates: .secondsSince1970), .secondsSince1970)

    private static func json(
        _ decoder: FastJSONDecoder, _ dates: JSONEncoder.DateEncodingStrategy,
        _ keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys
    ) -> Codecs {
        let encoder = JSONEncoder()
        (encoder.dateEncodingStrategy, encoder.keyEncodingStrategy) = (dates, keys)
        return Codecs(decoder: decoder, encoder: encoder)
    }
}
