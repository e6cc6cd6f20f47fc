// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Reads a multipart body, for the sequence of its parts and for the bodies of the parts.
///
/// An actor, so that parsing does not block the caller's actor and parts may be passed between tasks.
actor MultipartReader {
    /// The maximum number of bytes after the last part that are read so that the connection can be reused.
    private static let epilogue = 64 << 10

    private let source: ResponseBody
    private let pull: ChunkPull
    private var parser: MultipartParser
    private var part = 0
    private var isInPart = false
    private var isReading = false
    private var isFinished = false
    private var failure: NetworkError?

    init(_ source: ResponseBody, _ parser: MultipartParser) {
        self.source = source
        self.parser = parser
        pull = RequestBody.Chunks(source).makeNext()
    }

    /// Skips the rest of the current part, and returns the number and the head of the next one.
    func nextPart() async throws(NetworkError) -> (Int, HTTPHeaders)? {
        try await reading { () async throws(NetworkError) -> (Int, HTTPHeaders)? in
            while let event = try await event() {
                switch event {
                case .head(let headers):
                    part += 1
                    isInPart = true
                    return (part, headers)
                case .body: break
                case .partEnd: isInPart = false
                case .end: try await finish()
                }
            }
            return nil
        }
    }

    /// Returns the next bytes of a part, or nil at its end.
    func nextChunk(of number: Int) async throws(NetworkError) -> Data? {
        try await reading { () async throws(NetworkError) -> Data? in
            guard number == part else {
                throw NetworkError(
                    .invalidRequest, detail: "The part was skipped when the next part was requested.",
                    hint: "Read the body of a part before you request the next part.")
            }
            guard isInPart else { return nil }
            if case .body(let data) = try await event() { return data }
            isInPart = false
            return nil
        }
    }

    nonisolated func body(of number: Int) -> ResponseBody {
        ResponseBody(PartSource(reader: self, number: number), limit: source.limit, length: nil)
    }

    /// Performs `read` unless another task is reading: the two would receive each other's bytes.
    private func reading<Value>(
        _ read: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        guard !isReading else {
            throw NetworkError(
                .invalidRequest, detail: "Another task is reading the parts of this response.",
                hint: "Read the parts in one task at a time.")
        }
        isReading = true
        defer { isReading = false }
        return try await read()
    }

    /// Returns the next event, or nil after the last one. Pulls a chunk only if the parser needs one.
    private func event() async throws(NetworkError) -> MultipartParser.Event? {
        if let failure { throw failure }
        if isFinished { return nil }
        do {
            while true {
                if let event = try parser.next() { return event }
                guard let chunk = try await pull() else {
                    try parser.finish()
                    return nil
                }
                parser.receive(chunk)
            }
        } catch {
            source.cancel()
            let failure = (error as? MultipartParseError).map(Self.failure) ?? NetworkError(error)
            self.failure = failure
            throw failure
        }
    }

    private func finish() async throws(NetworkError) {
        isFinished = true
        var count = 0
        do {
            while count <= Self.epilogue, let chunk = try await pull() { count += chunk.count }
            source.cancel()
        } catch {
            let failure = NetworkError(error)
            self.failure = failure
            throw failure
        }
    }

    static func failure(_ error: MultipartParseError) -> NetworkError {
        let hint =
            switch error {
            case .truncated: "The server or a proxy ended the response early. Send the call again."
            case .headTooLarge, .tooManyParts: "If the server is trusted, use MultipartForm.Parts with higher limits."
            default: "The server sends invalid multipart. Check the response with a logging interceptor."
            }
        return NetworkError(.badResponse, detail: "The multipart body is invalid: \(error).", hint: hint)
    }
}

/// The body of one part. Cancelling it ends nothing: the rest of the part is skipped with the next part.
private final class PartSource: ResponseBodySource {
    private let reader: MultipartReader
    private let number: Int
    private let isCancelled = Locked(false)

    init(reader: MultipartReader, number: Int) {
        self.reader = reader
        self.number = number
    }

    func next() async throws -> Data? {
        guard !isCancelled.withLock({ $0 }) else {
            throw NetworkError(.cancelled, detail: "The body of the part was dropped before it was read.")
        }
        return try await reader.nextChunk(of: number)
    }

    func cancel() {
        isCancelled.withLock { $0 = true }
    }
}
