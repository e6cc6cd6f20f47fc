// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension MultipartForm {
    /// A part: a name, and text, bytes, an encoded value, a file or a stream as its content.
    ///
    /// Names are sent as browsers send them (WHATWG HTML §4.10.21.8): in UTF-8, with quotes, CR and LF percent-encoded.
    /// Other than in browsers, a backslash and the other control characters are percent-encoded as well: some receivers
    /// take a backslash as an escape, and end a name at a control character.
    public struct Part: Sendable {
        /// The field's name. It is only sent in `form-data`.
        public let name: String
        /// The file name for the receiver; nil for plain fields.
        public let fileName: String?
        /// The media type of the content; nil for plain fields, which are text in UTF-8.
        public let mediaType: MediaType?
        /// Fields that are sent in the head of the part, after `Content-Disposition` and `Content-Type`. A field with
        /// one of these two names replaces it. For an invalid field, `send` throws `.invalidRequest`.
        public var headers = HTTPHeaders()
        let content: RequestContent

        /// Creates a plain field.
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name: name, fileName: nil, mediaType: nil, content: .text(value))
        }

        /// Creates a part from bytes in memory. With a file name, the part is a file, and the extension determines the
        /// default media type.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let type = type ?? fileName.map { MediaType(fileName: $0) } ?? .octetStream
            return Part(name: name, fileName: fileName, mediaType: type, content: .data(data))
        }

        /// Creates a part from a file. The default `fileName` is the path's last component, and the default `type` is
        /// determined by its extension.
        public static func file(
            _ name: String, path: String, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let shown = fileName ?? path.parts("/").last.map(String.init) ?? path
            return Part(
                name: name, fileName: shown, mediaType: type ?? MediaType(fileName: shown), content: .file(path))
        }

        /// Creates a part from the file at a file URL. For any other URL `send` throws `.invalidRequest`.
        public static func file(
            _ name: String, url: URL, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            do throws(NetworkError) {
                return file(name, path: try url.filePath(), fileName: fileName, type: type)
            } catch {
                return Part(name: name, fileName: fileName, mediaType: type, content: .file(url))
            }
        }

        /// Creates a part from any content of a request, with the media type of that content:
        ///
        ///     .part("film", .json(film))                                            the client's codec
        ///     .part("log", .stream(length: size, replay: .always) { … }, fileName: "today.log")
        ///
        /// The content is encoded when the call is sent. A stream without a length makes the whole body one without a
        /// length, and a stream with `Replay.never` one that is sent at most once. Content with trailers makes `send`
        /// throw `.invalidRequest`.
        public static func part(
            _ name: String, _ content: RequestContent, fileName: String? = nil, headers: HTTPHeaders = HTTPHeaders()
        ) -> Part {
            Part(name: name, fileName: fileName, mediaType: content.mediaType, headers: headers, content: content)
        }
    }
}

extension MultipartForm.Part: MirroredByDescription {
    /// The name, file name and type, without the content.
    public var description: String {
        name + (fileName.map { " (\($0))" } ?? "") + (mediaType.map { ", \($0)" } ?? "")
    }
}
