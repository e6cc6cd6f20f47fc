// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP
public import CurlewJSON

/// The body of a call before it is encoded.
///
///     .json(user), .json(["age": 31])    the client's JSON codec
///     .form(["grant_type": "password"]) application/x-www-form-urlencoded
///     .multipart([.file("avatar", path: path)])
///     .data(bytes, type: .octetStream), .text("hello"), .file(path), .stream(length: 10) { … }
///
/// The content is encoded once, in `send`, off the main actor. If that fails, `send` throws `.encoding`, or
/// `.invalidRequest` for a missing file. The content sets `Content-Type` unless the call or the client sets it.
public struct RequestContent: MirroredByDescription, Sendable {
    /// The content and its media type; nil without a body, as in most calls.
    private let storage: Boxed<Storage>?

    private struct Storage: Sendable {
        let recipe: Recipe
        let mediaType: MediaType
        let contentType: String
        var trailers: RequestBody.Trailers?
        /// The change that a capability makes to the encoded body; nil if there is none.
        var change: (@Sendable (RequestBody) throws(NetworkError) -> RequestBody)?
    }

    private enum Recipe: Sendable {
        case ready(RequestBody)
        case encoded(any Encodable & Sendable, MediaType)
        case made(@Sendable (Codecs) throws -> RequestBody)
        case refused(NetworkError)
    }

    private init(_ recipe: Recipe, _ mediaType: MediaType, contentType: String? = nil) {
        storage = Boxed(
            Storage(recipe: recipe, mediaType: mediaType, contentType: contentType ?? mediaType.description))
    }

    private init(_ storage: Boxed<Storage>? = nil) {
        self.storage = storage
    }

    /// Returns this content with trailers: fields that are created and sent after the body. Only `.stream` without a
    /// length can have trailers. The rules are those of `RequestBody.trailing(_:fields:)`.
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

    /// Creates a JSON body from a value, which the JSON codec of the call encodes, or a default codec if the call has
    /// none.
    public static func json(_ value: some Encodable & Sendable) -> RequestContent {
        RequestContent(.encoded(value, .json), .json, contentType: "application/json")
    }

    /// Creates a JSON body from a JSON value, such as a literal: `.json(["name": "Ann", "age": 3])`. The JSON codec of
    /// the call encodes the value, or a default codec if the call has none.
    public static func json(_ value: JSONValue) -> RequestContent {
        RequestContent(.encoded(value, .json), .json, contentType: "application/json")
    }

    /// Creates a body in another format from a value, encoded by the codec of the call for that media type. Without
    /// one, a default codec encodes JSON types (`+json`), and for any other type `send` throws `.configuration`.
    public static func encoded(_ value: some Encodable & Sendable, as mediaType: MediaType) -> RequestContent {
        RequestContent(.encoded(value, mediaType), mediaType)
    }

    /// Creates a form body (`application/x-www-form-urlencoded`) with these fields, in their order.
    public static func form(_ fields: QueryItems) -> RequestContent {
        let bytes = Data(fields.formText.utf8)
        return RequestContent(.ready(.bytes(bytes)), .form, contentType: "application/x-www-form-urlencoded")
    }

    /// Creates the content of a capability. `make` creates the body when the call is sent, once for each call, with the
    /// codecs of the call. An error that it throws ends the call: a `NetworkError` unchanged, any other error as
    /// `.encoding`.
    package init(
        _ mediaType: MediaType, contentType: String? = nil, make: @escaping @Sendable (Codecs) throws -> RequestBody
    ) {
        self.init(.made(make), mediaType, contentType: contentType)
    }

    /// Returns this content with a change to its body. `change` receives the encoded body and returns the body to send.
    /// It is called once for each call, after earlier changes, and not for `.none`.
    package func changingBody(
        _ change: @escaping @Sendable (RequestBody) throws(NetworkError) -> RequestBody
    ) -> RequestContent {
        RequestContent(
            storage?.changed { storage in
                let earlier = storage.change
                storage.change = { body throws(NetworkError) in try change(try earlier?(body) ?? body) }
            })
    }

    /// Creates a body from bytes, which are sent unchanged.
    public static func data(_ data: Data, type: MediaType = .octetStream) -> RequestContent {
        RequestContent(.ready(.bytes(data)), type)
    }

    /// Creates a body from text, which is sent in UTF-8.
    public static func text(_ text: String, type: MediaType = .text) -> RequestContent {
        RequestContent(.ready(.bytes(Data(text.utf8))), type)
    }

    /// Creates a body from a file, which is read while it is sent. Without `type`, the file name extension determines
    /// the media type. If the file cannot be read, `send` throws `.invalidRequest`.
    public static func file(_ path: String, type: MediaType? = nil) -> RequestContent {
        RequestContent(.ready(.file(path)), type ?? MediaType(fileName: path))
    }

    /// Creates a body from the file at a file URL. For any other URL, `send` throws `.invalidRequest`.
    public static func file(_ url: URL, type: MediaType? = nil) -> RequestContent {
        do throws(NetworkError) {
            return file(try url.filePath(), type: type)
        } catch {
            return RequestContent(.refused(error), type ?? .octetStream)
        }
    }

    /// Creates a body from a stream of bytes, which are produced while they are sent. The parameters are those of
    /// `RequestBody.stream`.
    public static func stream(
        length: Int64? = nil, replay: RequestBody.Replay = .never, type: MediaType = .octetStream,
        make: @escaping @Sendable () throws -> RequestBody.Chunks
    ) -> RequestContent {
        RequestContent(.ready(.stream(length: length, replay: replay, make: make)), type)
    }

    /// Creates content from a complete body, whose media type, if any, is already in the headers.
    static func complete(_ body: RequestBody) -> RequestContent {
        RequestContent(.ready(body), .octetStream, contentType: "")
    }

    package func body(using codecs: Codecs) throws(NetworkError) -> RequestBody {
        guard let storage = storage?.value else { return .empty }
        var body = try body(of: storage.recipe, using: codecs)
        body.trailers = storage.trailers ?? body.trailers
        return try storage.change?(body) ?? body
    }

    private func body(of recipe: Recipe, using codecs: Codecs) throws(NetworkError) -> RequestBody {
        switch recipe {
        case .ready(let body): return body
        case .refused(let problem): throw problem
        case .made(let make): return try Self.encoding { try make(codecs) }
        case .encoded(let value, let mediaType):
            guard let codec = codecs.codec(for: mediaType) ?? (mediaType.isJSON ? codecs.jsonCodec : nil) else {
                throw NetworkError(
                    .configuration, detail: "The client has no codec for \(mediaType.essence).",
                    hint: "Add one with Codecs.adding(_:).")
            }
            return try Self.encoding { try .bytes(codec.encode(value)) }
        }
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

    /// The media type, or `no body`; `a body` if the fields of an existing request name the media type. The content
    /// itself is omitted.
    public var description: String {
        contentType ?? (storage == nil ? "no body" : "a body")
    }
}
