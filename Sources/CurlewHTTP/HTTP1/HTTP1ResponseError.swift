// SPDX-License-Identifier: MIT

/// The reason why a response cannot be parsed. Where the next response begins is then unknown: close the connection.
package enum HTTP1ResponseError: Error, Hashable, CaseIterable, CustomStringConvertible, Sendable {
    case badStatusLine
    /// A field line without a token before its colon, with NUL, or folded as the first one (RFC 9112 §2.2, §5.1).
    case badField
    /// A field that determines the framing and is folded, or has a control character (RFC 9112 §2.2, §5.2).
    case badFraming
    /// A Content-Length that is not one number (RFC 9112 §6.3).
    case badContentLength
    /// A Transfer-Encoding other than chunked, or in HTTP/1.0 (RFC 9112 §6.1).
    case badTransferCoding
    case badChunk
    case headTooLarge
    case tooManyFields
    /// The connection has ended before the response.
    case endedEarly

    package var description: String {
        switch self {
        case .badStatusLine: "the response does not begin with HTTP/1.x and a status of three digits"
        case .badField: "a field line has no valid name, or contains NUL"
        case .badFraming: "a field that determines the framing is folded or has a control character"
        case .badContentLength: "Content-Length is not one number"
        case .badTransferCoding: "the transfer coding is not chunked, or the version is HTTP/1.0"
        case .badChunk: "a chunk is malformed"
        case .headTooLarge: "the fields are larger than the limit"
        case .tooManyFields: "there are more fields than the limit"
        case .endedEarly: "the connection ended before the response was complete"
        }
    }
}
