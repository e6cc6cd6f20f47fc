// SPDX-License-Identifier: MIT

extension MockResponse {
    /// Malformed or unusual framing: how the end of the content is declared, independent of the content (RFC 9112 §6).
    public enum Framing: Hashable, Sendable {
        /// A Content-Length line for each text: a wrong one, several, or one that is not a number. The content is sent
        /// as it is.
        case contentLength([String])
        /// Transfer-Encoding with this value; the content is sent as it is.
        case transferEncoding(String)
        /// Chunks, with these Content-Length lines in addition to Transfer-Encoding.
        case chunked(contentLength: [String])
        /// Chunks whose size lines are all this text, such as "xyz".
        case chunkSize(String)
        /// Chunks without the final empty chunk.
        case unendedChunks
        /// Neither field: the end of the connection ends the content. This framing is valid.
        case untilClose
    }

    /// Returns a copy with this framing. The connection is closed after it, which the head does not announce.
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

    /// The line before each chunk; `nil` for the correct one.
    var chunkLine: String? {
        if case .chunkSize(let text) = self { text } else { nil }
    }

    var hasLastChunk: Bool { isChunked && self != .unendedChunks }
}
