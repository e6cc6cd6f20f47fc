// SPDX-License-Identifier: MIT

extension MediaType {
    /// Creates the media type for the extension of a file name, ignoring case. Unknown and missing extensions give
    /// `application/octet-stream`.
    package init(fileName: String) {
        let name = fileName.parts("/").last ?? ""
        let suffix = name.parts(".", keepingEmpty: true).dropFirst().last?.lowercased() ?? ""
        self = Self.byExtension[suffix].flatMap { MediaType($0) } ?? .octetStream
    }

    /// The usual extension of files of this type, without the dot; nil for unknown types and for bytes of any type.
    var fileExtension: String? {
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
