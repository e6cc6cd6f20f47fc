// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Arranges the parts of a form as bodies to send one after the other: byte runs and file ranges of known length, and
/// streams between them.
struct MultipartWriter {
    /// Content in memory of at most this size is copied next to the heads around it, larger content is sent as it is.
    private static let copied = 16 << 10

    let boundary: String
    let subtype: MultipartForm.Subtype
    private var bodies: [RequestBody] = []
    /// The pieces since the last stream.
    private var pieces: [RequestBody.Part] = []
    /// The bytes since the last piece.
    private var text = Data()

    init(boundary: String, subtype: MultipartForm.Subtype) {
        self.boundary = boundary
        self.subtype = subtype
    }

    mutating func append(
        _ part: MultipartForm.Part, _ content: RequestContent, using codecs: Codecs
    ) throws(NetworkError) {
        let body = try content.body(using: codecs)
        guard body.trailers == nil else {
            throw NetworkError(
                .invalidRequest, detail: "The part \(part.name.printable) has trailers.",
                hint: "Only the body of a request can have trailers.")
        }
        text.append(contentsOf: "--\(boundary)\r\n".utf8)
        text.append(contentsOf: try head(of: part).utf8)
        switch body.kind {
        case .empty: break
        case .parts(let parts): for piece in parts { try append(piece, of: part) }
        case .file(let path):
            try append(.file(path: path, offset: 0, length: UploadFile(path).length), of: part)
        case .stream(let length, _, _):
            if let length, length < 0 {
                throw NetworkError(.invalidRequest, detail: "The part \(part.name.printable) has a negative length.")
            }
            flushPieces()
            bodies.append(body)
        }
        text.append(contentsOf: "\r\n".utf8)
    }

    private mutating func append(_ piece: RequestBody.Part, of part: MultipartForm.Part) throws(NetworkError) {
        guard piece.length > 0 else { return }
        if case .bytes(let data) = piece {
            guard !holdsDelimiter(data) else {
                throw NetworkError(
                    .invalidRequest, detail: "The part \(part.name.printable) contains the boundary.",
                    hint: "Omit the boundary: the default is a random one.")
            }
            if data.count <= Self.copied { return text.append(data) }
        }
        flushText()
        pieces.append(piece)
    }

    /// Returns whether a receiver would find a delimiter: the boundary at the beginning of the content or of a line.
    private func holdsDelimiter(_ data: Data) -> Bool {
        let delimiter = Array("\r\n--\(boundary)".utf8)
        return data.starts(with: delimiter[2...])
            || data.withUnsafeBytes { bytes in
                bytes.indices.contains { bytes[$0] == delimiter[0] && bytes[$0...].starts(with: delimiter) }
            }
    }

    mutating func finished() throws(NetworkError) -> RequestBody {
        text.append(contentsOf: "--\(boundary)--\r\n".utf8)
        flushText()
        if bodies.isEmpty { return .parts(pieces) }
        flushPieces()
        let bodies = bodies
        let canReplay = bodies.allSatisfy(\.canReplay)
        return .stream(length: try Self.length(of: bodies), replay: canReplay ? .always : .never) {
            RequestBody.Chunks(JoinedChunks(bodies: bodies))
        }
    }

    private mutating func flushText() {
        if !text.isEmpty { pieces.append(.bytes(text)) }
        text = Data()
    }

    private mutating func flushPieces() {
        flushText()
        if !pieces.isEmpty { bodies.append(.parts(pieces)) }
        pieces = []
    }

    private func head(of part: MultipartForm.Part) throws(NetworkError) -> String {
        if let problem = part.headers.problem {
            throw NetworkError(.invalidRequest, detail: "In the part \(part.name.printable): \(problem.message)")
        }
        var head = ""
        if !part.headers.contains(.contentDisposition) {
            if subtype == .formData {
                let value = PartDisposition.formData(name: part.name, fileName: part.fileName)
                head += "Content-Disposition: \(value)\r\n"
            } else if let fileName = part.fileName {
                head += "Content-Disposition: \(PartDisposition.attachment(fileName: fileName))\r\n"
            }
        }
        if let type = part.mediaType, !part.headers.contains(.contentType) {
            head += "Content-Type: \(Self.oneLine(type.description))\r\n"
        }
        for field in part.headers { head += "\(field.name.text): \(field.value)\r\n" }
        return head + "\r\n"
    }

    /// Removes control characters from a custom media type, so that it cannot start a new header line.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }

    /// The sum of the lengths; nil if one of them is unknown.
    private static func length(of bodies: [RequestBody]) throws(NetworkError) -> Int64? {
        var sum: Int64 = 0
        for body in bodies {
            guard let length = body.length else { return nil }
            let (more, isBeyond) = sum.addingReportingOverflow(length)
            guard !isBeyond else { throw NetworkError(.invalidRequest, detail: "The multipart body is too long.") }
            sum = more
        }
        return sum
    }
}

/// The chunks of bodies, one body after the other. A body is created when its turn comes.
private struct JoinedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let bodies: [RequestBody]

    func makeAsyncIterator() -> Iterator {
        Iterator(remainder: bodies[...])
    }

    struct Iterator: AsyncIteratorProtocol {
        var remainder: ArraySlice<RequestBody>
        var current: RequestBody.Chunks.Iterator?

        mutating func next() async throws -> Data? {
            while true {
                if let chunk = try await current?.next() { return chunk }
                guard let body = remainder.popFirst() else { return nil }
                current = try body.chunks().makeAsyncIterator()
            }
        }
    }
}

extension RequestContent {
    /// Creates a body of fields and files (RFC 7578):
    ///
    ///     .multipart([.field("title", "Nosferatu"), .file("poster", path: path)])
    ///
    /// The body is created when the call is sent. `send` throws `.invalidRequest` for a file that cannot be read and an
    /// invalid boundary or field, and `.encoding` for a value that cannot be encoded.
    public static func multipart(_ form: MultipartForm) -> RequestContent {
        RequestContent(form.mediaType) { try form.body(using: $0) }
    }
}
