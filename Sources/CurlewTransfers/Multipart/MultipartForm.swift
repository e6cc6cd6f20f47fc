// SPDX-License-Identifier: MIT

package import CurlewCore
public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A `multipart/form-data` body of fields and files (RFC 7578).
///
///     let form: MultipartForm = [.field("caption", "On the beach"), .file("photo", path: photo.path)]
///     try await client.send(.post("/photos", body: .multipart(form)))
///
/// Files are read while they are sent and are never held in memory. The length of the body is known before sending.
/// Parts keep their order. If a file is missing or not a regular file, `send` throws `.invalidRequest` before anything
/// is sent.
public struct MultipartForm: Sendable {
    /// A part: a name, and text, bytes or a file as its content.
    public struct Part: Sendable {
        enum Source: Sendable {
            case bytes(Data)
            case file(String)
            case refused(NetworkError)
        }

        /// The field's name.
        public let name: String
        /// The file name for the receiver; nil for plain fields.
        public let fileName: String?
        /// The media type of the content; nil for plain fields, which are text in UTF-8.
        public let mediaType: MediaType?
        let source: Source

        /// Creates a plain field.
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name: name, fileName: nil, mediaType: nil, source: .bytes(Data(value.utf8)))
        }

        /// Creates a part from bytes in memory. With a file name, the part is a file, and the extension determines the
        /// default media type.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let type = type ?? fileName.map { MediaType(fileName: $0) } ?? .octetStream
            return Part(name: name, fileName: fileName, mediaType: type, source: .bytes(data))
        }

        /// Creates a part from a file. The default `fileName` is the path's last component, and the default `type` is
        /// determined by its extension.
        public static func file(
            _ name: String, path: String, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let shown = fileName ?? path.parts("/").last.map(String.init) ?? path
            return Part(
                name: name, fileName: shown, mediaType: type ?? MediaType(fileName: shown), source: .file(path))
        }

        /// Creates a part from the file at a file URL. For any other URL `send` throws `.invalidRequest`.
        public static func file(
            _ name: String, url: URL, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            do throws(NetworkError) {
                return file(name, path: try url.filePath(), fileName: fileName, type: type)
            } catch {
                return Part(name: name, fileName: fileName, mediaType: type, source: .refused(error))
            }
        }
    }

    /// The parts in the order in which they are sent.
    public var parts: [Part]
    /// The delimiter of the parts.
    public let boundary: String

    /// Creates a form without parts.
    public init() {
        self.init([])
    }

    /// Creates a form of these parts.
    ///
    /// - `boundary`: 1 to 70 letters, digits and `'()+_,-./:=?` that occur in no part (RFC 2046 §5.1.1). Default 128
    ///   random bits.
    public init(_ parts: [Part], boundary: String = MultipartForm.randomBoundary()) {
        self.parts = parts
        self.boundary = boundary
    }

    /// Returns a boundary from the system's random number generator.
    public static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        return "curlew-" + String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }

    /// The media type including the boundary.
    public var mediaType: MediaType {
        MediaType(
            type: "multipart", subtype: "form-data",
            parameters: [MediaType.Parameter(name: "boundary", value: boundary)])
    }

    /// Returns the body, with a known length. Reads the sizes of the files.
    package func body() throws(NetworkError) -> RequestBody {
        guard Self.isValid(boundary: boundary) else {
            throw NetworkError(
                .invalidRequest, detail: "The multipart boundary violates RFC 2046 §5.1.1.",
                hint: "Omit the boundary, or use letters and digits.")
        }
        var writer = MultipartWriter(boundary: boundary)
        for part in parts { try writer.append(part) }
        return writer.finished()
    }

    private static func isValid(boundary: String) -> Bool {
        (1...70).contains(boundary.utf8.count)
            && boundary.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "'()+_,-./:=?".utf8.contains(byte)
                }
            }
    }
}

extension MultipartForm: ExpressibleByArrayLiteral {
    /// Creates a form of these parts with a random boundary.
    public init(arrayLiteral elements: Part...) {
        self.init(elements)
    }
}

extension MultipartForm.Part: CustomStringConvertible, CustomReflectable {
    /// The name, file name and type, without the content.
    public var description: String {
        name + (fileName.map { " (\($0))" } ?? "") + (mediaType.map { ", \($0)" } ?? "")
    }

    /// Shows the description only. Debuggers and `dump` use it.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
