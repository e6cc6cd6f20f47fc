// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A reader of the parts of a `multipart/form-data` form (RFC 7578) in memory.
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
        var content = Data()

        fileprivate init?(_ fields: HTTPHeaders) {
            guard let disposition = fields[.contentDisposition].flatMap({ PartDisposition($0) }),
                disposition.kind == "form-data", let name = disposition.name
            else { return nil }
            self.name = name
            fileName = disposition.fileName
            mediaType = fields[.contentType].flatMap { MediaType($0) }
        }
    }

    private var parser: MultipartParser

    /// Returns the parts of the form in a request. Throws a refusal: 415 for another media type or without a boundary,
    /// 400 for a malformed form.
    static func parts(of request: RecordedRequest) throws(Refusal) -> [Part] {
        guard let type = request.headers[.contentType].flatMap({ MediaType($0) }),
            type.essence == MediaType.multipartFormData.essence,
            var reader = type[parameter: "boundary"].flatMap({ MultipartReader(boundary: $0) })
        else { throw Refusal.problem(.unsupportedMediaType, "This call requires multipart/form-data.") }
        guard let parts = reader.parts(of: request.body) else {
            throw Refusal.problem(.badRequest, "The form is malformed or has more than 100 parts.")
        }
        return parts
    }

    /// Creates a reader; `nil` for an invalid boundary.
    init?(boundary: String) {
        var limits = MultipartParser.Limits()
        limits.parts = 100
        limits.headBytes = 8192
        guard let parser = try? MultipartParser(boundary: boundary, limits: limits) else { return nil }
        self.parser = parser
    }

    /// Returns the parts; `nil` if the form is malformed, or exceeds the limits of parts or fields.
    mutating func parts(of body: Data) -> [Part]? {
        var parts: [Part] = []
        parser.receive(body)
        while let event = try? parser.next() {
            switch event {
            case .head(let fields):
                guard let part = Part(fields) else { return nil }
                parts.append(part)
            case .body(let data): parts[parts.count - 1].content.append(data)
            case .partEnd: break
            case .end: return parts
            }
        }
        return nil
    }
}
