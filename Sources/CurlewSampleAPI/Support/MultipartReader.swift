// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the parts of a `multipart/form-data` form (RFC 7578) in memory.
///
/// The reader accepts at most 100 parts, each with at most 8 KiB of fields; the server limits the body. It refuses the
/// complete form if a part has no name or if the form violates the grammar of RFC 2046 §5.1.1.
struct MultipartReader {
    /// A part of a form.
    struct Part {
        let name: String
        /// The file name of a file; `nil` for a plain field.
        let fileName: String?
        let mediaType: MediaType?
        let content: Data
    }

    private let delimiter: Data
    private var rest: Data

    /// Returns the parts of the form in a request. Throws a refusal: 415 if the media type is another one or has no
    /// boundary, 400 if the form is malformed.
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
        // A delimiter includes the line break before it. The first delimiter of a body has none, so one is added.
        rest = Data("\r\n".utf8) + body
    }

    /// Returns the parts; `nil` if the form is malformed, or exceeds the limit on parts or fields.
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
        // The part of a disposition after its first token has the grammar of a media type.
        guard let disposition = fields[.contentDisposition], disposition.hasPrefix("form-data"),
            let parameters = MediaType("multipart/" + disposition), let name = parameters[parameter: "name"]
        else { return nil }
        return Part(
            name: name, fileName: parameters[parameter: "filename"],
            mediaType: fields[.contentType].flatMap { MediaType($0) }, content: content)
    }

    /// Removes the bytes up to and including the next `mark`, and returns those before `mark`. Returns nil if there is
    /// no `mark`.
    private mutating func take(upTo mark: Data) -> Data? {
        guard let found = rest.firstRange(of: mark) else { return nil }
        let taken = rest[..<found.lowerBound]
        rest = rest[found.upperBound...]
        return Data(taken)
    }

    /// Skips the spaces and tabs that are allowed between a delimiter and its line break, and the line break. Returns
    /// false if there is no line break.
    private mutating func endLine() -> Bool {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.starts(with: "\r\n".utf8) else { return false }
        rest = rest.dropFirst(2)
        return true
    }
}
