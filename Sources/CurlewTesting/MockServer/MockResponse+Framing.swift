// SPDX-License-Identifier: MIT

extension MockResponse {
    /// Framing that is wrong, or odd: how the end of the content is declared, whatever the content is (RFC 9112 §6).
    public enum Framing: Hashable, Sendable {
        /// A Content-Length line for each text: a false one, several, one that is no number. The content is sent as it is.
        case contentLength([String])
        /// Transfer-Encoding with this value; the content is sent as it is.
        case transferEncoding(String)
        /// Chunks, with these Content-Length lines beside Transfer-Encoding.
        case chunked(contentLength: [String])
        /// Chunks whose lines of size are all this text, such as "xyz".
        case chunkSize(String)
        /// Chunks without the last, empty one.
        case unendedChunks
        /// Neither field: the content ends with the connection. Not wrong.
        case untilClose
    }

    /// The same with its framing replaced. The connection is closed after it, which the head does not say.
    public func framed(as framing: Framing) -> MockResponse {
        changed { $0.faults.framing = framing }
    }
}

extension MockResponse.Framing {
    /// The lines of the head.
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

    /// The line before each chunk, `nil` for the right one.
    var chunkLine: String? {
        if case .chunkSize(let text) = self { text } else { nil }
    }

    var hasLastChunk: Bool { isChunked && self != .unendedChunks }
}
