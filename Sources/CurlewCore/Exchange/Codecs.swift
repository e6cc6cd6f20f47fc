// SPDX-License-Identifier: MIT

public import CurlewHTTP
public import CurlewJSON

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Turns values into bytes of one media type and back.
///
/// Implement it for another format (property lists, CBOR, protocol buffers) and add it with `Codecs.adding(_:)`. The
/// methods are called from several threads at once, never on the main actor.
public protocol ContentCodec: Sendable {
    /// The media type it writes, and the one it is found by.
    var mediaType: MediaType { get }
    /// The value in `data`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
    /// The bytes of `value`.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// The codecs of a client: one by default, others chosen by the media type of the answer.
///
/// Made once per client and shared by its calls.
public struct Codecs: Sendable {
    /// Writes bodies, and reads answers whose media type no other codec claims.
    public var primary: any ContentCodec { list.primary }
    /// The `Accept` field that goes with these codecs.
    package var accept: String { list.accept }
    private let list: List

    /// JSON, read by Curlew's own decoder, which gives the same values as Foundation's several times faster, and written
    /// by Foundation's encoder.
    ///
    /// The encoder is shared by concurrent calls: configure it before and leave it alone afterwards.
    public init(decoder: FastJSONDecoder = FastJSONDecoder(), encoder: JSONEncoder = JSONEncoder()) {
        self.init(primary: JSONCodec(decoder: decoder, encoder: encoder))
    }

    /// JSON through Foundation's coders, used as they are configured: for strategies that `FastJSONDecoder` has not.
    ///
    /// The coders are shared by concurrent calls: configure them before and leave them alone afterwards.
    public init(decoder: JSONDecoder, encoder: JSONEncoder = JSONEncoder()) {
        self.init(primary: JSONCodec(decoder: decoder, encoder: encoder))
    }

    /// Another default format.
    public init(primary: any ContentCodec) {
        list = List(primary: primary, others: [], accept: primary.mediaType.essence)
    }

    private init(_ list: List) {
        self.list = list
    }

    /// These codecs and one more, used for answers of its media type. It wins over one added before it.
    public func adding(_ codec: any ContentCodec) -> Codecs {
        Codecs(
            List(
                primary: primary, others: [codec] + list.others,
                accept: accept + ", \(codec.mediaType.essence);q=0.9"))
    }

    /// The value in `data`, read by the codec that claims `mediaType`, else by the primary one.
    ///
    /// `mediaType` is worked out only when there is more than one codec.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, mediaType: @autoclosure () -> MediaType?
    ) throws -> Value {
        guard !list.others.isEmpty, let mediaType = mediaType() else {
            return try list.primary.decode(type, from: data)
        }
        return try (codec(for: mediaType) ?? primary).decode(type, from: data)
    }

    /// The bytes of `value` in the primary format.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try primary.encode(value)
    }

    /// The codec that claims `mediaType`, if one does.
    package func codec(for mediaType: MediaType) -> (any ContentCodec)? {
        if let other = list.others.first(where: { mediaType.essence == $0.mediaType.essence }) { return other }
        return mediaType.essence == primary.mediaType.essence ? primary : nil
    }

    /// Behind one reference, because every call has a copy.
    private final class List: Sendable {
        let primary: any ContentCodec
        let others: [any ContentCodec]
        let accept: String

        init(primary: any ContentCodec, others: [any ContentCodec], accept: String) {
            self.primary = primary
            self.others = others
            self.accept = accept
        }
    }
}

/// JSON through one of two decoders, and Foundation's encoder.
struct JSONCodec<Reader: JSONReader>: ContentCodec {
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

    /// The document with its members in their order; nil where the encoder is told to do something that it alone can.
    private func written(_ document: JSONValue) -> Data? {
        guard encoder.outputFormatting.isSubset(of: .withoutEscapingSlashes) else { return nil }
        switch encoder.keyEncodingStrategy {
        case .useDefaultKeys: return document.encoded()
        case .convertToSnakeCase: return document.encoded(convertsToSnakeCase: true)
        default: return nil
        }
    }
}

/// What the two decoders of JSON have in common.
protocol JSONReader: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: JSONReader {}
extension FastJSONDecoder: JSONReader {}
