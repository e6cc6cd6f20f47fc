// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// A reader of the parts of a `multipart/form-data` form (RFC 7578) in memory.
///
/// The reader accepts at most 100 parts, each with at most 8 KiB of fields; the server limits the body. It refuses the
/// complete form if a part has no name or if the form violates the grammar of RFC 2046 §5.1.1.
enum MultipartReader {
    /// A part of a form.
    struct Part: Sendable {
        let name: String
        /// The file name of a file; `nil` for a plain field.
        let fileName: String?
        let mediaType: MediaType?
        let content: Data

        /// Parses what stands between two delimiters: fields, an empty line and the content.
        fileprivate init?(_ bytes: ArraySlice<UInt8>) {
            let end = Array("\r\n\r\n".utf8)
            guard let empty = bytes.indices.first(where: { bytes[$0...].starts(with: end) }),
                empty - bytes.startIndex <= 8192
            else { return nil }
            var headers = HTTPHeaders()
            for line in String(decoding: bytes[..<empty], as: UTF8.self).split(separator: "\r\n" as Character) {
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let name = HTTPField.Name(String(line[..<colon]))
                guard name.isValid else { return nil }
                headers.append(name, String(line[line.index(after: colon)...]))
            }
            // The field has the grammar of a media type without its first half.
            let disposition = headers[.contentDisposition].flatMap { MediaType("multipart/" + $0) }
            guard let disposition, disposition.subtype == "form-data",
                let name = disposition[parameter: "name"]
            else { return nil }
            // Browsers encode a quote like this (WHATWG HTML §4.10.21.8).
            self.name = name.replacing("%22", with: "\"")
            fileName = disposition[parameter: "filename"]?.replacing("%22", with: "\"")
            mediaType = headers[.contentType].flatMap { MediaType($0) }
            content = Data(bytes[(empty + end.count)...])
        }
    }

    /// Returns the parts of the form in a request. Throws a refusal: 415 for another media type or without a boundary,
    /// 400 for a malformed form.
    static func parts(of request: RecordedRequest) throws(Refusal) -> [Part] {
        guard let type = request.headers[.contentType].flatMap({ MediaType($0) }),
            type.essence == MediaType.multipartFormData.essence, type[parameter: "boundary"] != nil
        else { throw Refusal.problem(.unsupportedMediaType, "This call requires multipart/form-data.") }
        guard let parts = parts(of: request.body, type: type) else {
            throw Refusal.problem(.badRequest, "The form is malformed or has more than 100 parts.")
        }
        return parts
    }

    /// Returns the parts; `nil` if the form is malformed, or exceeds the limits of parts or fields.
    static func parts(of body: Data, type: MediaType) -> [Part]? {
        let delimiter = Array("\r\n--\(type[parameter: "boundary"] ?? "")".utf8)
        // The first delimiter may be at the beginning of the body.
        let bytes = Array("\r\n".utf8) + body
        var parts: [Part] = []
        var start: Int?
        var position = 0
        while let next = bytes[position...].indices.first(where: { bytes[$0...].starts(with: delimiter) }) {
            let tail = bytes[(next + delimiter.count)...]
            let line = tail.drop { $0 == 0x20 || $0 == 0x09 }
            let isLast = tail.starts(with: "--".utf8)
            position = next + 1
            guard isLast || line.starts(with: "\r\n".utf8) else { continue }
            if let start {
                guard start <= next, parts.count < 100, let part = Part(bytes[start..<next]) else { return nil }
                parts.append(part)
            }
            if isLast { return parts }
            start = line.startIndex + 2
        }
        return nil
    }
}
