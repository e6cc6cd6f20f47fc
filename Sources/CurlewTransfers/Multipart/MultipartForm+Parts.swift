// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension MultipartForm {
    /// The parts of a multipart response, read one after the other as they arrive: `mixed`, `byteranges`, `form-data`
    /// and every other subtype (RFC 2046 §5.1).
    ///
    ///     for try await part in try response.parts() {
    ///         print(part.mediaType, try await part.body.collect(upTo: 1 << 20).count)
    ///     }
    ///
    /// - Nothing is received before it is read, and memory holds one chunk and the head of one part.
    /// - The body of a part is read before the next part is requested. Unread bytes are then skipped, and reading them
    ///   later throws `.invalidRequest`.
    /// - A malformed body, and one that ends before its last delimiter, throws `.badResponse`. Truncated content never
    ///   looks complete. After an error the response is cancelled, and the same error is thrown again.
    /// - Text before the first part, at most 64 KiB, and after the last one is ignored.
    /// - The limit of the response's body (`Limits.responseBody`) bounds all parts together.
    /// - The sequence can be iterated once. Two tasks must not read parts at the same time: the second one throws
    ///   `.invalidRequest`.
    public struct Parts: AsyncSequence, Sendable {
        private let body: ResponseBody
        private let parser: MultipartParser

        /// Creates the sequence of the parts of `body`, for a part that is itself multipart:
        /// `try MultipartForm.Parts(part.body, type: part.mediaType)`.
        ///
        /// Throws `.badResponse` if `type` is not multipart or has no valid boundary.
        ///
        /// - `maximumParts`: the maximum number of parts. Default 1000.
        /// - `maximumHead`: the maximum size of the head of a part, in bytes. Default 16 KiB.
        public init(
            _ body: ResponseBody, type: MediaType?, maximumParts: Int = 1000, maximumHead: Int = 16_384
        ) throws(NetworkError) {
            guard let type, type.type == "multipart" else {
                throw NetworkError(
                    .badResponse, detail: "The media type is \(type?.essence.printable ?? "missing"), not multipart.",
                    hint: "Check the status and the Accept field of the call.")
            }
            guard let boundary = type[parameter: "boundary"] else {
                throw NetworkError(.badResponse, detail: "The media type \(type.essence.printable) has no boundary.")
            }
            var limits = MultipartParser.Limits()
            limits.parts = maximumParts
            limits.headBytes = maximumHead
            do throws(MultipartParseError) {
                parser = try MultipartParser(boundary: boundary, limits: limits)
            } catch {
                throw MultipartReader.failure(error)
            }
            self.body = body
        }

        /// Creates the iterator, which begins to read the body.
        public func makeAsyncIterator() -> Iterator {
            Iterator(reader: MultipartReader(body, parser))
        }

        /// An iterator over the parts, in order. Two tasks must not use it concurrently.
        public struct Iterator: AsyncIteratorProtocol {
            let reader: MultipartReader

            /// Skips the rest of the current part, waits for the head of the next one and returns it. Returns nil after
            /// the last delimiter.
            public mutating func next() async throws -> Part? {
                guard let (number, headers) = try await reader.nextPart() else { return nil }
                return Part(headers: headers, body: reader.body(of: number))
            }
        }

        /// A part: its fields, and a body that is read once.
        public struct Part: Sendable {
            /// The fields of the head of the part. Invalid UTF-8 is replaced.
            public let headers: HTTPHeaders
            /// The content as it was sent, without any decoding. It can be read until the next part is requested.
            public let body: ResponseBody

            /// The `name` of `Content-Disposition`; nil if there is none or if that field is malformed.
            public var name: String? { disposition?.name }

            /// The file name of `Content-Disposition`, which the sender chooses; nil if there is none or if that field
            /// is malformed.
            ///
            /// Only what follows the last `/` or `\`, without control characters, and never `.` or `..`. `filename*`
            /// (RFC 8187) takes precedence over `filename`.
            public var fileName: String? { disposition?.fileName }

            /// The media type of the content; nil if `Content-Type` is missing or malformed.
            public var mediaType: MediaType? { headers[.contentType].flatMap { MediaType($0) } }

            private var disposition: PartDisposition? {
                let values = headers[values: .contentDisposition]
                return values.count == 1 ? values.first.flatMap { PartDisposition($0) } : nil
            }
        }
    }
}

extension HTTPResponse {
    /// Returns the parts of a multipart response, which are read as they arrive. Throws `.badResponse` if the response
    /// is not multipart.
    ///
    ///     try await client.withResponse(to: Request<Data>.get("/batch")) { response in
    ///         for try await part in try response.parts() { … }
    ///     }
    public func parts() throws(NetworkError) -> MultipartForm.Parts {
        try MultipartForm.Parts(body, type: mediaType)
    }
}
