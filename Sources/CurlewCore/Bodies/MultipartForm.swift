// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Fields and files in one body, `multipart/form-data` (RFC 7578).
///
///     let form: MultipartForm = [.field("caption", "On the beach"), .file("photo", path: photo.path)]
///     try await client.send(.post("/photos", multipart: form))
///
/// Files are read while they are sent, never held in memory; the length of the body is known before. Parts keep their
/// order. A file that is missing or no regular file makes `send` throw `.invalidRequest` before anything leaves.
public struct MultipartForm: Sendable {
    /// One part: a name, and text, bytes or a file under it.
    public struct Part: Sendable {
        enum Source: Sendable {
            case bytes(Data)
            case file(String)
        }

        /// The field's name.
        public let name: String
        /// The name that the receiver may give the file; nil for plain fields.
        public let fileName: String?
        /// What the bytes are; nil for plain fields, which are text in UTF-8.
        public let mediaType: MediaType?
        let source: Source

        /// A plain field.
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name: name, fileName: nil, mediaType: nil, source: .bytes(Data(value.utf8)))
        }

        /// Bytes at hand; as a file when they have a file name, whose extension then decides the type.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let type = type ?? fileName.map { MediaType(fileName: $0) } ?? .octetStream
            return Part(name: name, fileName: fileName, mediaType: type, source: .bytes(data))
        }

        /// A file on disk. Without `fileName`, the path's last component; without `type`, its extension decides.
        public static func file(
            _ name: String, path: String, fileName: String? = nil, type: MediaType? = nil
        ) -> Part {
            let shown = fileName ?? path.parts("/").last.map(String.init) ?? path
            return Part(
                name: name, fileName: shown, mediaType: type ?? MediaType(fileName: shown), source: .file(path))
        }
    }

    /// The parts in the order in which they are sent.
    public var parts: [Part]
    /// What separates the parts.
    public let boundary: String

    /// A form without parts, to be filled.
    public init() {
        self.init([])
    }

    /// A form of these parts.
    ///
    /// - `boundary`: 1 to 70 letters, digits and `'()+_,-./:=?` that occur in no part (RFC 2046 §5.1.1). Default 128
    ///   random bits.
    public init(_ parts: [Part], boundary: String = MultipartForm.randomBoundary()) {
        self.parts = parts
        self.boundary = boundary
    }

    /// A boundary from the system's random numbers.
    public static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        return "curlew-" + String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }

    /// The media type with the boundary in it.
    public var mediaType: MediaType {
        MediaType(
            type: "multipart", subtype: "form-data",
            parameters: [MediaType.Parameter(name: "boundary", value: boundary)])
    }

    /// The recipe for the bytes, of known length. Looks at the files.
    package func body() throws(NetworkError) -> RequestBody {
        guard Self.isValid(boundary: boundary) else {
            throw NetworkError(
                .invalidRequest, detail: "The multipart boundary breaks the rules of RFC 2046 §5.1.1.",
                hint: "Leave it out, or use letters and digits.")
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
    /// A form of these parts with a random boundary.
    public init(arrayLiteral elements: Part...) {
        self.init(elements)
    }
}

extension MultipartForm.Part: CustomStringConvertible, CustomReflectable {
    /// Name, file name and type; never the content.
    public var description: String {
        name + (fileName.map { " (\($0))" } ?? "") + (mediaType.map { ", \($0)" } ?? "")
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
