// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Dispatch

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

        fileprivate init?(_ part: MultipartForm.Parts.Part) async throws {
            let kind = part.headers[.contentDisposition]?.utf8.prefix { $0 != UInt8(ascii: ";") } ?? ""[...].utf8
            guard Substring(kind).lowercased() == "form-data", let name = part.name else { return nil }
            self.name = name
            fileName = part.fileName
            mediaType = part.mediaType
            content = try await part.body.collect(upTo: .max)
        }
    }

    /// Returns the parts of the form in a request. Throws a refusal: 415 for another media type or without a boundary,
    /// 400 for a malformed form. Blocks the thread, which belongs to the connection.
    static func parts(of request: RecordedRequest) throws(Refusal) -> [Part] {
        guard let type = request.headers[.contentType].flatMap({ MediaType($0) }),
            type.essence == MediaType.multipartFormData.essence, type[parameter: "boundary"] != nil
        else { throw Refusal.problem(.unsupportedMediaType, "This call requires multipart/form-data.") }
        let parts = Locked<[Part]?>(nil)
        let isRead = DispatchSemaphore(value: 0)
        let body = request.body
        Task {
            let read = await Self.parts(of: body, type: type)
            parts.withLock { $0 = read }
            isRead.signal()
        }
        isRead.wait()
        guard let parts = parts.withLock({ $0 }) else {
            throw Refusal.problem(.badRequest, "The form is malformed or has more than 100 parts.")
        }
        return parts
    }

    /// Returns the parts; `nil` if the form is malformed, or exceeds the limits of parts or fields.
    static func parts(of body: Data, type: MediaType) async -> [Part]? {
        do {
            var parts: [Part] = []
            let form = try MultipartForm.Parts(ResponseBody(body), type: type, maximumParts: 100, maximumHead: 8192)
            for try await part in form {
                guard let part = try await Part(part) else { return nil }
                parts.append(part)
            }
            return parts
        } catch {
            return nil
        }
    }
}
