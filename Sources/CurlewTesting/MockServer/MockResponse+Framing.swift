// SPDX-License-Identifier: MIT

extension MockResponse {
    /// Malformed or unusual framing of the content (RFC 9112 §6), in place of the framing that the server would choose.
    public enum Framing: Hashable, Sendable {
        /// One Content-Length line for each string. The lines may be wrong, contradictory, or not numbers. The content
        /// is sent unchanged.
        case contentLength([String])
        /// A Transfer-Encoding line with this value. The content is sent unchanged.
        case transferEncoding(String)
        /// Valid chunks, with these Content-Length lines in addition to Transfer-Encoding.
        case chunked(contentLength: [String])
        /// Chunks whose size lines are all this text, such as "xyz".
        case chunkSize(String)
        /// Chunks without the final empty chunk.
        case unendedChunks
        /// Neither Content-Length nor Transfer-Encoding: the end of the connection ends the content. This framing is
        /// valid.
        case untilClose
    }

    /// Returns a copy with this framing. The server closes the connection after the response, although the head does
    /// not announce this.
    public func framed(as framing: Framing) -> MockResponse {
        changed { $0.faults.framing = framing }
    }
}

extension MockResponse.Framing {
    /// The framing lines of the head.
    var lines: [String] {
        switch self {
        case .contentLength(let values): values.map { "Content-Length: \($0)" }
        case .transferEncoding(let value): ["Transfer-Encoding: \(value)"]
        case .chunked(let lengths): lengths.map { "Content-Length: \($0)" } + ["Transfer-Encoding: chunked"]
        case .chunkSize, .unendedChunks: ["Transfer-Encoding: chunked"]
        case .untilClose: []
        }
    }

    var isChunked: Bool {
        switch self {
        case .chunked, .chunkSize, .unendedChunks: true
        case .contentLength, .transferEncoding, .untilClose: false
        }
    }

    /// The size line of every chunk if it is malformed; `nil` if the size lines are correct.
    var chunkLine: String? {
        if case .chunkSize(let text) = self { text } else { nil }
    }

    var hasLastChunk: Bool { isChunked && self != .unendedChunks }
}
