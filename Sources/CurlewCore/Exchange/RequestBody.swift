// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// The body of a request, produced each time that the request is sent.
///
/// A body knows its length, if it has one, and whether it can be produced again. Retry, redirect and authentication
/// check `canReplay` before they send a request twice. A body that can be produced only once is never silently sent
/// empty. Files are read while they are sent and are never held in memory completely.
public struct RequestBody: MirroredByDescription, Sendable {
    /// Whether a stream can be created again, so that the request can be sent again.
    public enum Replay: Sendable {
        /// The stream can be created once. The request is sent at most once.
        case never
        /// `make` returns the same bytes each time it is called.
        case always
    }

    /// A piece with a known length: bytes in memory, or a range of a file.
    package enum Part: Sendable {
        case bytes(Data)
        /// A range of a file, in bytes. A negative length means the rest of the file; `Kind.parts` contains none.
        case file(path: String, offset: Int64, length: Int64)

        package var length: Int64 {
            switch self {
            case .bytes(let data): Int64(data.count)
            case .file(_, _, let length): length
            }
        }
    }

    package enum Kind: Sendable {
        case empty
        /// Pieces sent one after the other.
        case parts([Part])
        /// A complete file, whose length is determined when it is opened.
        case file(path: String)
        case stream(length: Int64?, replay: Replay, make: @Sendable () throws -> Chunks)
    }

    /// The bytes of a body, which the transport requests chunk by chunk.
    public struct Chunks: Sendable {
        /// Creates the function that returns the next chunk, or nil at the end. Called once each time that the body is
        /// sent.
        package let makeNext: @Sendable () -> ChunkPull

        /// Creates chunks from an asynchronous sequence. The next chunk is requested when the previous one has been
        /// sent.
        public init<Base: AsyncSequence & Sendable>(_ base: Base) where Base.Element == Data {
            makeNext = { pull(from: base) }
        }

        package init(_ makeNext: @escaping @Sendable () -> ChunkPull) {
            self.makeNext = makeNext
        }
    }

    package let kind: Kind
    /// The trailers that follow the bytes, if any: see `trailing(_:fields:)`.
    package internal(set) var trailers: Trailers?
    /// The body whose bytes this body counts, for a transport that reads bytes and files itself: see
    /// `counted(length:by:)`. Nil if nothing is counted, or if the original body is a stream.
    package internal(set) var counted: CountedBody?

    /// No content. The request declares no length, or `Content-Length: 0` if the method defines content, as POST does.
    public static let empty = RequestBody(kind: .empty)

    /// Creates a body from bytes in memory.
    public static func bytes(_ data: Data) -> RequestBody {
        RequestBody(kind: .parts([.bytes(data)]))
    }

    /// Creates a body from a file, which is opened and read while the body is sent.
    ///
    /// The call throws `NetworkError` with reason `.invalidRequest` before anything is sent if the file is missing or
    /// cannot be read, and `.encoding` if it shrinks while it is sent.
    public static func file(_ path: String) -> RequestBody {
        RequestBody(kind: .file(path: path))
    }

    /// Creates a body from a stream of bytes, which are produced while they are sent.
    ///
    /// - `length`: the exact number of bytes; nil to send them without a length, over HTTP/1.1 chunked. If the stream
    ///   produces fewer or more, the call throws `.encoding`. On Linux the last byte is therefore sent only when the
    ///   producer has ended.
    /// - `replay`: whether the stream can be created again. Pass `.always` only if `make` returns the same bytes each
    ///   time.
    /// - `make`: creates the stream. Called once each time that the body is sent. The transport requests the next chunk
    ///   only when it has room for it.
    public static func stream(
        length: Int64? = nil, replay: Replay = .never, make: @escaping @Sendable () throws -> Chunks
    ) -> RequestBody {
        RequestBody(kind: .stream(length: length, replay: replay, make: make))
    }

    /// Creates a body from pieces of known length, which are sent in order.
    package static func parts(_ parts: [Part]) -> RequestBody {
        RequestBody(kind: .parts(parts))
    }

    /// Whether this is `.empty`, the body of a request without content. False for a body with zero bytes.
    public var isEmpty: Bool {
        if case .empty = kind { true } else { false }
    }

    /// The number of bytes. Nil for a stream without a declared length, and for a file, whose length is known only when
    /// it is opened.
    public var length: Int64? {
        switch kind {
        case .empty: 0
        case .parts(let parts): parts.reduce(0) { $0 + $1.length }
        case .file: nil
        case .stream(let length, _, _): length
        }
    }

    /// Whether the body can be produced again. False only for a stream with `Replay.never`.
    public var canReplay: Bool {
        if case .stream(_, .never, _) = kind { false } else { true }
    }

    /// The bytes, for logging, signing and tests. Nil for a stream and for a body with a file.
    public var data: Data? {
        switch kind {
        case .empty:
            return Data()
        case .parts(let parts):
            if case .bytes(let only)? = parts.first, parts.count == 1 { return only }
            var all = Data()
            for part in parts {
                guard case .bytes(let data) = part else { return nil }
                all.append(data)
            }
            return all
        case .file, .stream:
            return nil
        }
    }

    /// The kind of the body, and its length or the path of its file; never its content.
    public var description: String {
        switch kind {
        case .empty: "empty"
        case .parts: "\(length ?? 0) bytes"
        case .file(let path): "file \(path)"
        case .stream(let length, _, _): length.map { "stream of \($0) bytes" } ?? "stream"
        }
    }
}

extension RequestBody {
    /// The trailer fields of a body, which are created when the body has been produced, and are sent after it.
    package struct Trailers: Sendable {
        /// The names of the trailer fields, which the `Trailer` field announces.
        package let names: [HTTPField.Name]
        private let make: @Sendable () async throws -> HTTPHeaders

        init(_ names: [HTTPField.Name], _ make: @escaping @Sendable () async throws -> HTTPHeaders) {
            self.names = names
            self.make = make
        }

        /// Creates and checks the fields. Throws `NetworkError` with reason `.encoding` if the fields cannot be
        /// created, are invalid or were not announced.
        package func fields() async throws(NetworkError) -> HTTPHeaders {
            let fields: HTTPHeaders
            do {
                fields = try await make()
            } catch {
                throw NetworkError(.encoding, detail: "The trailers could not be created: \(error)", underlying: error)
            }
            if let problem = fields.problem { throw NetworkError(.encoding, detail: problem.message) }
            if let field = fields.first(where: { !names.contains($0.name) }) {
                throw NetworkError(
                    .encoding, detail: "The trailer \(field.name.text.printable) was not declared.",
                    hint: "Declare it in trailing(_:fields:).")
            }
            return fields
        }
    }

    /// Returns this body with trailers: fields that are known only when the body has been produced, such as a checksum.
    ///
    /// `names` are announced in the `Trailer` field (RFC 9110 §6.6.2). `fields` is called when the stream has ended,
    /// each time that the body is sent. It returns fields with these names, not necessarily all of them.
    ///
    /// - Only a stream without a declared length can have trailers. Any other body is rejected with `.invalidRequest`.
    /// - Trailers are sent over HTTP/1.1 only: with `CurlTransport` for http, and for https if
    ///   `TransportConfiguration.httpVersions` is `.http1Only`. Any other call throws `.configuration`.
    ///   `URLSessionTransport` always throws `.configuration`.
    /// - A field that the receiver needs before the content, such as `Content-Type` or `Authorization`, is rejected
    ///   with `.invalidRequest` (RFC 9110 §6.5.1).
    /// - A field that was not announced ends the call with `.encoding`.
    ///
    /// Servers and proxies may drop trailers. The content must be complete without them.
    public func trailing(
        _ names: HTTPField.Name..., fields: @escaping @Sendable () async throws -> HTTPHeaders
    ) -> RequestBody {
        var body = self
        body.trailers = Trailers(names, fields)
        return body
    }

    /// The reason why no transport can send the trailers; nil if they can be sent or if there are none.
    var trailerProblem: String? {
        guard let trailers else { return nil }
        guard case .stream(nil, _, _) = kind else {
            return "Only a stream without a declared length can have trailers."
        }
        guard !trailers.names.isEmpty else { return "The body has trailers but declares no name." }
        guard let name = trailers.names.first(where: { !$0.isValid || !$0.mayTrail }) else { return nil }
        return "A field named \(name.text.printable) cannot be a trailer (RFC 9110 §6.5.1)."
    }
}

extension HTTPField.Name {
    /// Whether a field with this name may be sent in trailers. False for fields about framing, routing, request
    /// modifiers, authentication, response control and the processing of the content (RFC 9110 §6.5.1).
    fileprivate var mayTrail: Bool {
        if belongsToConnection { return false }
        let name = text.lowercased()
        return !Self.headOnly.contains(name) && !name.begins(with: "if-") && !name.begins(with: "accept")
            && !name.begins(with: "proxy-")
    }

    private static let headOnly = [
        "age", "authentication-info", "authorization", "cache-control", "connection", "content-encoding",
        "content-language", "content-length", "content-location", "content-range", "content-type", "cookie", "date",
        "expect", "expires", "forwarded", "host", "idempotency-key", "keep-alive", "location", "max-forwards", "origin",
        "pragma", "prefer", "priority", "range", "referer", "retry-after", "set-cookie", "te", "trailer",
        "transfer-encoding", "upgrade", "user-agent", "vary", "via", "warning", "www-authenticate",
    ]
}
