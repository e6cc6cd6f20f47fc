// SPDX-License-Identifier: MIT

/// A media type or media range with its parameters (RFC 9110 §8.3.1 and §12.5.1).
public struct MediaType: Hashable, Sendable {
    /// The part before the slash, in lower case; `*` in the range `*/*`.
    public let type: String
    /// The part after the slash, in lower case; `*` in a range such as `text/*`.
    public let subtype: String
    /// The parameters in order, such as `charset`.
    public let parameters: [Parameter]

    /// A parameter of a media type: a name in lower case and an unquoted value.
    public struct Parameter: Hashable, Sendable {
        /// The name of the parameter, in lower case.
        public let name: String
        /// The value of the parameter, unquoted.
        public let value: String

        /// Creates a parameter. The name is converted to lower case.
        public init(name: String, value: String) {
            self.name = ASCII.lowercased(name)
            self.value = value
        }
    }

    /// Creates a media type from its parts. The type and the subtype are converted to lower case, and nothing is
    /// validated. ``HTTPHeaders`` rejects a value that cannot be sent.
    public init(type: String, subtype: String, parameters: [Parameter] = []) {
        self.type = ASCII.lowercased(type)
        self.subtype = ASCII.lowercased(subtype)
        self.parameters = parameters
    }

    /// Parses a `Content-Type` value or one member of `Accept`.
    ///
    /// Returns nil unless the type and the subtype are tokens, and only parameters follow. Malformed parameters are
    /// skipped, as in browsers, so that an invalid charset does not hide the type.
    public init?(_ string: String) {
        var reader = FieldReader(string)
        guard let (type, subtype) = reader.essence() else { return nil }
        self.init(type: type, subtype: subtype, parameters: reader.parameters())
    }

    /// The type and subtype without parameters: "application/json".
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of the first parameter with this name, ignoring case; nil if there is no such parameter.
    public subscript(parameter name: String) -> String? {
        parameters.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }

    /// The value of the charset parameter, in lower case; nil if there is none.
    public var charset: String? { self[parameter: "charset"].map(ASCII.lowercased) }

    /// Whether the content is JSON: `application/json`, `text/json` or any type with the suffix `+json` (RFC 6839).
    public var isJSON: Bool {
        subtype.ends(with: "+json") || (subtype == "json" && (type == "application" || type == "text"))
    }

    /// Returns whether the given media range includes this type.
    ///
    /// `*/*` includes every type, and `text/*` includes every text type. This type must have each parameter of the
    /// range with the same value, which is case-insensitive for `charset`. The weight `q` is ignored, because it is not
    /// a parameter of the type.
    public func matches(_ range: MediaType) -> Bool {
        guard range.type == "*" || range.type == type else { return false }
        guard range.subtype == "*" || range.subtype == subtype else { return false }
        return range.parameters.allSatisfy { wanted in
            if wanted.name == "q" { return true }
            guard let value = self[parameter: wanted.name] else { return false }
            return wanted.name == "charset" ? ASCII.equalIgnoringCase(value, wanted.value) : value == wanted.value
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// The media type in field syntax, with its parameters. Parameter values that are not tokens are quoted.
    public var description: String {
        var text = essence
        for parameter in parameters {
            text += "; \(parameter.name)="
            if ASCII.isToken(parameter.value) {
                text += parameter.value
            } else {
                text += "\""
                for character in parameter.value.unicodeScalars {
                    if character == "\"" || character == "\\" { text += "\\" }
                    text.unicodeScalars.append(character)
                }
                text += "\""
            }
        }
        return text
    }
}

extension MediaType {
    /// `application/json`: JSON (RFC 8259).
    public static let json = MediaType(type: "application", subtype: "json")
    /// `application/x-www-form-urlencoded`: the percent-encoded names and values of a form.
    public static let form = MediaType(type: "application", subtype: "x-www-form-urlencoded")
    /// `multipart/form-data`: a form with files (RFC 7578), here without a boundary. `MultipartForm` adds one.
    public static let multipartFormData = MediaType(type: "multipart", subtype: "form-data")
    /// `text/plain; charset=utf-8`: plain text in UTF-8.
    public static let text = MediaType(
        type: "text", subtype: "plain", parameters: [Parameter(name: "charset", value: "utf-8")])
    /// `application/octet-stream`: bytes of an unknown type.
    public static let octetStream = MediaType(type: "application", subtype: "octet-stream")
    /// `text/html`: an HTML document.
    public static let html = MediaType(type: "text", subtype: "html")
    /// `application/xml`: an XML document.
    public static let xml = MediaType(type: "application", subtype: "xml")
    /// `text/event-stream`: server-sent events.
    public static let eventStream = MediaType(type: "text", subtype: "event-stream")
    /// `application/jsonl`: one JSON value per line.
    public static let jsonLines = MediaType(type: "application", subtype: "jsonl")
    /// `*/*`: the range that includes every type.
    public static let any = MediaType(type: "*", subtype: "*")

    /// Creates the media type for the extension of a file name, ignoring case. Unknown and missing extensions give
    /// `application/octet-stream`.
    package init(fileName: String) {
        let name = fileName.parts("/").last ?? ""
        let suffix = name.parts(".", keepingEmpty: true).dropFirst().last?.lowercased() ?? ""
        self = Self.byExtension[suffix].flatMap { MediaType($0) } ?? .octetStream
    }

    /// The usual extension of files of this type, without the dot; `json` or `xml` for unknown types with the suffix
    /// `+json` or `+xml`. Nil for `application/octet-stream` and other unknown types.
    package var fileExtension: String? {
        if let preferred = Self.preferredExtensions[essence] { return preferred }
        if let known = Self.extensions[essence] { return known }
        return isJSON ? "json" : subtype.ends(with: "+xml") ? "xml" : nil
    }

    /// Of several extensions in the table below, the usual one.
    private static let preferredExtensions = [
        "image/jpeg": "jpg", "image/tiff": "tiff", "text/html": "html", "application/yaml": "yaml", "text/xml": "xml",
        "application/javascript": "js",
    ]

    private static let extensions: [String: String] = Dictionary(
        byExtension.filter { $0.key != "bin" }.map { ($0.value, $0.key) }, uniquingKeysWith: min)

    private static let byExtension: [String: String] = [
        "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp", "css": "text/css",
        "csv": "text/csv", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif",
        "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json", "jsonl": "application/jsonl",
        "m4a": "audio/mp4", "md": "text/markdown", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
        "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain",
        "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}
