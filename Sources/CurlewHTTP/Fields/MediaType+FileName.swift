// SPDX-License-Identifier: MIT

extension MediaType {
    /// Creates the media type for the extension of a file name, ignoring case. Unknown and missing extensions give
    /// `application/octet-stream`.
    package init(fileName: String) {
        let name = fileName.parts("/").last ?? ""
        let suffix = name.parts(".", keepingEmpty: true).dropFirst().last?.lowercased() ?? ""
        self = Self.byExtension[suffix].flatMap { MediaType($0) } ?? .octetStream
    }

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
