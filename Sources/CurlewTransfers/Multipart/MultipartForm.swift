// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// A `multipart/form-data` body of fields and files (RFC 7578), or a `multipart/mixed` or `multipart/related` body.
///
///     let form: MultipartForm = [.field("caption", "On the beach"), .file("photo", path: photo.path)]
///     try await client.send(.post("/photos", body: .multipart(form)))
///
/// - Parts keep their order. Files and streams are read while they are sent and are never held in memory.
/// - `Content-Length` is sent unless a part is a stream without a length.
/// - The body can be sent again if every part can: only a stream with `Replay.never` cannot.
/// - If a file is missing or not a regular file, `send` throws `.invalidRequest` before anything is sent.
public struct MultipartForm: Sendable {
    /// The subtype of a multipart body.
    public enum Subtype: Hashable, Sendable {
        /// `multipart/form-data`: fields and files with names (RFC 7578).
        case formData
        /// `multipart/mixed`: independent parts (RFC 2046 §5.1.3).
        case mixed
        /// `multipart/related`: a root part, whose media type is the parameter `type`, and its related parts (RFC
        /// 2387).
        case related
    }

    /// The parts in the order in which they are sent.
    public var parts: [Part]
    package let boundary: String
    private let subtype: Subtype

    /// Creates a form without parts.
    public init() {
        self.init([])
    }

    /// Creates a form of these parts.
    ///
    /// - `subtype`: default `.formData`. The names of parts are only sent in `form-data`.
    /// - `boundary`: 1 to 70 letters, digits and `'()+_,-./:=?` that occur in no part (RFC 2046 §5.1.1). Default 128
    ///   random bits. For an invalid boundary, and for one that occurs in a part in memory, `send` throws
    ///   `.invalidRequest`.
    public init(
        _ parts: [Part], subtype: Subtype = .formData, boundary: String? = nil
    ) {
        self.parts = parts
        self.subtype = subtype
        self.boundary = boundary ?? Self.randomBoundary()
    }

    private static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        return "curlew-" + String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }

    /// The media type including the boundary.
    public var mediaType: MediaType {
        let delimiter = MediaType.Parameter(name: "boundary", value: boundary)
        switch subtype {
        case .formData: return MediaType(type: "multipart", subtype: "form-data", parameters: [delimiter])
        case .mixed: return MediaType(type: "multipart", subtype: "mixed", parameters: [delimiter])
        case .related:
            let root = parts.first?.mediaType.map { MediaType.Parameter(name: "type", value: $0.essence) }
            return MediaType(type: "multipart", subtype: "related", parameters: [delimiter] + (root.map { [$0] } ?? []))
        }
    }

    /// Encodes the values of the parts, reads the sizes of the files, and returns the body. Throws `.invalidRequest`
    /// for an invalid boundary, field or file, and the error of a codec.
    package func body(using codecs: Codecs = .json) throws(NetworkError) -> RequestBody {
        guard Self.isValid(boundary: boundary) else {
            throw NetworkError(
                .invalidRequest, detail: "The multipart boundary violates RFC 2046 §5.1.1.",
                hint: "Omit the boundary, or use letters and digits.")
        }
        var writer = MultipartWriter(boundary: boundary, subtype: subtype)
        for part in parts {
            for content in part.contents { try writer.append(part, content, using: codecs) }
        }
        return try writer.finished()
    }

    private static func isValid(boundary: String) -> Bool {
        (1...70).contains(boundary.utf8.count)
            && boundary.utf8.allSatisfy {
                ASCII.isDigit($0) || ASCII.isLetter($0) || "'()+_,-./:=?".utf8.contains($0)
            }
    }
}

extension MultipartForm: ExpressibleByArrayLiteral {
    /// Creates a form of these parts with a random boundary.
    public init(arrayLiteral elements: Part...) {
        self.init(elements)
    }
}

extension MultipartForm {
    /// A part: a name, and text, bytes, an encoded value, a file or a stream as its content.
    ///
    /// Names are sent as browsers send them (WHATWG HTML §4.10.21.8): in UTF-8, with quotes, CR and LF percent-encoded.
    /// Unlike in browsers, the other control characters are percent-encoded too, and a backslash before another one or
    /// at the end: some receivers treat a backslash as an escape, and end a name at a control character.
    public struct Part: Sendable {
        /// The field's name. It is only sent in `form-data`.
        public let name: String
        /// The file name for the receiver; nil if none is sent, as for plain fields.
        public let fileName: String?
        /// The media type of the content; nil for plain fields, which are text in UTF-8.
        public let mediaType: MediaType?
        /// Fields that are sent in the head of the part, after `Content-Disposition` and `Content-Type`. A field with
        /// one of these two names replaces the generated one. For an invalid field, `send` throws `.invalidRequest`.
        public var headers = HTTPHeaders()
        /// One content, or one for each text of a field's value: the part is sent as often.
        let contents: [RequestContent]

        private init(
            _ name: String, _ fileName: String?, _ type: MediaType?, headers: HTTPHeaders = HTTPHeaders(),
            _ contents: [RequestContent]
        ) {
            (self.name, self.fileName, mediaType, self.headers) = (name, fileName, type, headers)
            self.contents = contents
        }

        /// Creates a plain field with the text of a value, as in a query. An array or a set becomes one field for each
        /// of its elements, as browsers send a list; an empty one adds no field.
        public static func field(_ name: String, _ value: some QueryValue) -> Part {
            Part(name, nil, nil, value.queryTexts.map { .text($0) })
        }

        /// Creates a part from bytes in memory. With a file name, the part is a file, and the extension determines the
        /// default `type`; otherwise the default is `application/octet-stream`.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let type = type ?? fileName.map { MediaType(fileName: $0) } ?? .octetStream
            return Part(name, fileName, type, [.data(data)])
        }

        /// Creates a part from a file. The default `fileName` is the path's last component; the default `type` is that
        /// of its extension.
        public static func file(
            _ name: String, path: String, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let shown = fileName ?? path.parts("/").last.map(String.init) ?? path
            return Part(name, shown, type ?? MediaType(fileName: shown), [.file(path)])
        }

        /// Creates a part from the file at a file URL. For any other URL `send` throws `.invalidRequest`.
        public static func file(
            _ name: String, url: URL, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            do throws(NetworkError) {
                return file(name, path: try url.filePath(), fileName: fileName, type: type)
            } catch {
                return Part(name, fileName, type, [.file(url)])
            }
        }

        /// Creates a part from any content of a request, with the media type of that content:
        ///
        ///     .part("film", .json(film))                                            the client's codec
        ///     .part("log", .stream(length: size, replay: .always) { … }, fileName: "today.log")
        ///
        /// The content is encoded when the call is sent. A stream without a length leaves the body without one; with
        /// `Replay.never`, the body is sent once at most. For content with trailers, `send` throws `.invalidRequest`.
        public static func part(
            _ name: String, _ content: RequestContent, fileName: String? = nil, headers: HTTPHeaders = HTTPHeaders()
        ) -> Part {
            Part(name, fileName, content.mediaType, headers: headers, [content])
        }
    }
}

extension MultipartForm.Part: MirroredByDescription {
    /// The name, file name and type, without the content.
    public var description: String {
        name + (fileName.map { " (\($0))" } ?? "") + (mediaType.map { ", \($0)" } ?? "")
    }
}
