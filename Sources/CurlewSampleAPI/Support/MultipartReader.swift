// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the parts of a form, `multipart/form-data` (RFC 7578), from a body at hand.
///
/// Bounded: at most 100 parts, and 8 KiB of fields for each; the server bounds the body itself. A part without a name
/// and anything that breaks the grammar of RFC 2046 §5.1.1 is refused as a whole.
struct MultipartReader {
    /// One part.
    struct Part {
        let name: String
        /// `nil` for plain fields.
        let fileName: String?
        let mediaType: MediaType?
        let content: Data
    }

    private let delimiter: Data
    private var rest: Data

    /// The parts of a request's content. Throws a refusal: 415 for another media type, 400 for a broken form.
    static func parts(of request: RecordedRequest) throws(Refusal) -> [Part] {
        guard let type = request.headers[.contentType].flatMap({ MediaType($0) }),
            type.essence == MediaType.multipartFormData.essence, let boundary = type[parameter: "boundary"],
            (1...70).contains(boundary.utf8.count)
        else { throw Refusal.problem(.unsupportedMediaType, "This call takes multipart/form-data.") }
        var reader = MultipartReader(boundary: boundary, body: request.body)
        guard let parts = reader.parts() else {
            throw Refusal.problem(.badRequest, "The form is broken, or has more than 100 parts.")
        }
        return parts
    }

    init(boundary: String, body: Data) {
        delimiter = Data("\r\n--\(boundary)".utf8)
        // The first delimiter may stand at the very beginning; the line break in front of it is part of it.
        rest = Data("\r\n".utf8) + body
    }

    /// `nil` for a form that is broken or too large.
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
        // Disposition and media type have the same grammar for what follows the first word.
        guard let disposition = fields[.contentDisposition], disposition.hasPrefix("form-data"),
            let parameters = MediaType("multipart/" + disposition), let name = parameters[parameter: "name"]
        else { return nil }
        return Part(
            name: name, fileName: parameters[parameter: "filename"],
            mediaType: fields[.contentType].flatMap { MediaType($0) }, content: content)
    }

    /// What stands before the mark, which is taken too.
    private mutating func take(upTo mark: Data) -> Data? {
        guard let found = rest.firstRange(of: mark) else { return nil }
        let taken = rest[..<found.lowerBound]
        rest = rest[found.upperBound...]
        return Data(taken)
    }

    /// Blanks may stand between a delimiter and its line break.
    private mutating func endLine() -> Bool {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.starts(with: "\r\n".utf8) else { return false }
        rest = rest.dropFirst(2)
        return true
    }
}
