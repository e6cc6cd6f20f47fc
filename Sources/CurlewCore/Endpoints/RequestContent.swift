// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The body of a call before it is encoded.
///
///     .json(user), .json(["age": 31])    the client's JSON codec
///     .form(["grant_type": "password"]) application/x-www-form-urlencoded
///     .multipart([.file("avatar", path: path)])
///     .data(bytes, type: .octetStream), .text("hello"), .file(path), .stream(length: 10) { … }
///
/// The content is encoded once, in `send`, off the main actor. A failure throws `.encoding`, or `.invalidRequest` for a
/// missing file. It sets `Content-Type` unless the call's headers include that field.
public struct RequestContent: Sendable {
    /// Nil without a body, as for most calls.
    private let storage: Boxed<Storage>?

    private struct Storage: Sendable {
        let recipe: Recipe
        let mediaType: MediaType
        let contentType: String
        var trailers: RequestBody.Trailers?
    }

    private enum Recipe: Sendable {
        case ready(RequestBody)
        case encoded(any Encodable & Sendable, MediaType)
        case form(any Encodable & Sendable)
        case multipart(MultipartForm)
        case refused(NetworkError)
    }

    private init(_ recipe: Recipe, _ mediaType: MediaType, contentType: String? = nil) {
        storage = Boxed(
            Storage(recipe: recipe, mediaType: mediaType, contentType: contentType ?? mediaType.description))
    }

    private init(_ storage: Boxed<Storage>? = nil) {
        self.storage = storage
    }

    /// Returns this content with trailers: fields that are created and sent after the body. Only for `.stream` without
    /// a length. The rules are those of `RequestBody.trailing(_:fields:)`.
    public func trailing(
        _ names: HTTPField.Name..., fields: @escaping @Sendable () async throws -> HTTPHeaders
    ) -> RequestContent {
        RequestContent(storage?.changed { $0.trailers = RequestBody.Trailers(names, fields) })
    }

    /// The media type of the encoded body; nil without a body.
    public var mediaType: MediaType? { storage?.value.mediaType }

    /// The `Content-Type` value; nil if the field is not set.
    var contentType: String? { storage.flatMap { $0.value.contentType.isEmpty ? nil : $0.value.contentType } }

    /// No body.
    public static let none = RequestContent()

    /// A value as JSON, encoded by the client's codec for JSON, or by a default one.
    public static func json(_ value: some Encodable & Sendable) -> RequestContent {
        RequestContent(.encoded(value, .json), .json, contentType: "application/json")
    }

    /// JSON from a literal: `.json(["name": "Ann", "age": 3])`.
    public static func json(_ value: JSONValue) -> RequestContent {
        RequestContent(.encoded(value, .json), .json, contentType: "application/json")
    }

    /// A value in another format, encoded by the client's codec for that media type. Without such a codec, `send`
    /// throws `.configuration`.
    public static func encoded(_ value: some Encodable & Sendable, as mediaType: MediaType) -> RequestContent {
        RequestContent(.encoded(value, mediaType), mediaType)
    }

    /// A form with these fields, in their order.
    public static func form(_ fields: QueryItems) -> RequestContent {
        let bytes = Data(FormEncoder.text(of: fields.items.lazy.map { (name: $0.name, value: $0.value) }).utf8)
        return RequestContent(.ready(.bytes(bytes)), .form, contentType: "application/x-www-form-urlencoded")
    }

    /// A form from a value: members become fields, nested ones `a[b]`, lists repeat the name.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable) -> RequestContent {
        RequestContent(.form(value), .form, contentType: "application/x-www-form-urlencoded")
    }

    /// Fields and files in one body (RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestContent {
        RequestContent(.multipart(form), form.mediaType)
    }

    /// Bytes, sent unchanged.
    public static func data(_ data: Data, type: MediaType = .octetStream) -> RequestContent {
        RequestContent(.ready(.bytes(data)), type)
    }

    /// Text in UTF-8.
    public static func text(_ text: String, type: MediaType = .text) -> RequestContent {
        RequestContent(.ready(.bytes(Data(text.utf8))), type)
    }

    /// The content of a file, read while it is sent. Without `type`, the extension determines the media type.
    public static func file(_ path: String, type: MediaType? = nil) -> RequestContent {
        RequestContent(.ready(.file(path)), type ?? MediaType(fileName: path))
    }

    /// The content of the file at a file URL. For any other URL `send` throws `.invalidRequest`.
    public static func file(_ url: URL, type: MediaType? = nil) -> RequestContent {
        do throws(NetworkError) {
            return file(try url.filePath(), type: type)
        } catch {
            return RequestContent(.refused(error), type ?? .octetStream)
        }
    }

    /// A stream of bytes, produced while they are sent. The parameters are those of `RequestBody.stream`.
    public static func stream(
        length: Int64? = nil, replay: RequestBody.Replay = .never, type: MediaType = .octetStream,
        make: @escaping @Sendable () throws -> RequestBody.Chunks
    ) -> RequestContent {
        RequestContent(.ready(.stream(length: length, replay: replay, make: make)), type)
    }

    /// A complete body whose media type, if any, is already in the headers.
    static func complete(_ body: RequestBody) -> RequestContent {
        RequestContent(.ready(body), .octetStream, contentType: "")
    }

    /// Encodes the content.
    func body(using codecs: Codecs) throws(NetworkError) -> RequestBody {
        guard let storage = storage?.value else { return .empty }
        var body = try body(of: storage.recipe, using: codecs)
        body.trailers = storage.trailers ?? body.trailers
        return body
    }

    private func body(of recipe: Recipe, using codecs: Codecs) throws(NetworkError) -> RequestBody {
        switch recipe {
        case .ready(let body): return body
        case .refused(let problem): throw problem
        case .multipart(let form): return try form.body()
        case .form(let value):
            return try Self.encoding { try .bytes(FormEncoder().encode(value)) }
        case .encoded(let value, let mediaType):
            guard let codec = codecs.codec(for: mediaType) ?? Self.plain(mediaType) else {
                throw NetworkError(
                    .configuration, detail: "The client has no codec that writes \(mediaType.essence).",
                    hint: "Add one with Codecs.adding(_:).")
            }
            return try Self.encoding { try .bytes(codec.encode(value)) }
        }
    }

    private static func plain(_ mediaType: MediaType) -> (any ContentCodec)? {
        mediaType.isJSON ? Codecs.json.primary : nil
    }

    private static func encoding(_ work: () throws -> RequestBody) throws(NetworkError) -> RequestBody {
        do {
            return try work()
        } catch let error as NetworkError {
            throw error
        } catch {
            let detail = (error as? EncodingError)?.explanation ?? "The body could not be encoded: \(error)"
            throw NetworkError(.encoding, detail: detail.clipped(to: 500), underlying: error)
        }
    }
}

extension RequestContent: CustomStringConvertible, CustomReflectable {
    /// The media type, without the content.
    public var description: String {
        contentType ?? "no body"
    }

    /// Shows the description only. Debuggers and `dump` use it.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
