// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the parts of a `multipart/form-data` form (RFC 7578) from a body in memory.
///
/// The reader accepts at most 100 parts, with 8 KiB of fields each; the server limits the body. A form with a part
/// without a name, or that violates the grammar of RFC 2046 §5.1.1, is refused as a whole.
struct MultipartReader {
    /// A part of a form.
    struct Part {
        let name: String
        /// `nil` for plain fields.
        let fileName: String?
        let mediaType: MediaType?
        let content: Data
    }

    private let delimiter: Data
    private var rest: Data

    /// Returns the parts of a request's content. Throws a refusal: 415 for another media type, 400 for a malformed
    /// form.
    static func parts(of request: RecordedRequest) throws(Refusal) -> [Part] {
        guard let type = request.headers[.contentType].flatMap({ MediaType($0) }),
            type.essence == MediaType.multipartFormData.essence, let boundary = type[parameter: "boundary"],
            (1...70).contains(boundary.utf8.count)
        else { throw Refusal.problem(.unsupportedMediaType, "This call requires multipart/form-data.") }
        var reader = MultipartReader(boundary: boundary, body: request.body)
        guard let parts = reader.parts() else {
            throw Refusal.problem(.badRequest, "The form is malformed or has more than 100 parts.")
        }
        return parts
    }

    init(boundary: String, body: Data) {
        delimiter = Data("\r\n--\(boundary)".utf8)
        // The first delimiter may be at the very beginning; the line break before it is a part of it.
        rest = Data("\r\n".utf8) + body
    }

    /// Returns the parts; `nil` for a form that is malformed or too large.
    mutating func parts() -> [Part]? {
        guard take(upTo: delimiter) != nil else { return nil }
        var parts: [Part] = []
        while true {
            if rest.starts(with: "--".utf8) { return parts }
            guard parts.count < 100, endLine(), let part = part() else { return nil }
            parts.append(part)
        }
    }

    private mutating func part() -> Part? {
        guard let head = take(upTo: Data("\r\n\r\n".utf8)), head.count <= 8192, let content = take(upTo: delimiter)
        else { return nil }
        var fields = HTTPHeaders()
        for line in String(decoding: head, as: UTF8.self).split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            fields.append(HTTPField.Name(String(line[..<colon])), String(line[line.index(after: colon)...]))
        }
        // After the first token, the disposition has the grammar of a media type.
        guard let disposition = fields[.contentDisposition], disposition.hasPrefix("form-data"),
            let parameters = MediaType("multipart/" + disposition), let name = parameters[parameter: "name"]
        else { return nil }
        return Part(
            name: name, fileName: parameters[parameter: "filename"],
            mediaType: fields[.contentType].flatMap { MediaType($0) }, content: content)
    }

    /// Removes and returns the bytes before the mark, and removes the mark.
    private mutating func take(upTo mark: Data) -> Data? {
        guard let found = rest.firstRange(of: mark) else { return nil }
        let taken = rest[..<found.lowerBound]
        rest = rest[found.upperBound...]
        return Data(taken)
    }

    /// Skips the blanks that are allowed between a delimiter and its line break.
    private mutating func endLine() -> Bool {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.starts(with: "\r\n".utf8) else { return false }
        rest = rest.dropFirst(2)
        return true
    }
}
