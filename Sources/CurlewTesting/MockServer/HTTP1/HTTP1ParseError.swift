// SPDX-License-Identifier: MIT

/// The reason why a request cannot be parsed.
///
/// The start of the next request is then unknown: send the error response and close the connection.
enum HTTP1ParseError: Error, Hashable, Sendable, CaseIterable {
    case badRequestLine
    case unsupportedVersion
    /// A line that ends with LF alone. Servers interpret such a line differently.
    case bareLineFeed
    /// A field name that is not a token, for example because of a space before the colon (RFC 9112 §5.1).
    case badFieldName
    case badFieldValue
    /// A field continued on the next line (RFC 9112 §5.2).
    case foldedField
    /// A missing Host in HTTP/1.1, or more than one (RFC 9112 §3.2).
    case badHost
    case headTooLarge
    case tooManyFields
    /// A Content-Length that is not a plain number, or more than one.
    case badContentLength
    /// Content-Length and Transfer-Encoding together, or Transfer-Encoding in HTTP/1.0 (RFC 9112 §6.1).
    case ambiguousLength
    /// A transfer coding other than chunked.
    case unsupportedTransferCoding
    case badChunk
    case bodyTooLarge
}

extension HTTP1ParseError: CustomStringConvertible {
    var description: String {
        switch self {
        case .badRequestLine: "the request line is not METHOD SP TARGET SP VERSION"
        case .unsupportedVersion: "the version is not HTTP/1.x"
        case .bareLineFeed: "a line ends in LF without CR"
        case .badFieldName: "a field name is not a token followed by a colon"
        case .badFieldValue: "a field value contains a control character"
        case .foldedField: "a field is continued on the next line"
        case .badHost: "the request needs exactly one Host field"
        case .headTooLarge: "the fields are larger than the limit"
        case .tooManyFields: "there are more fields than the limit"
        case .badContentLength: "Content-Length is not one number"
        case .ambiguousLength: "the length of the content is ambiguous"
        case .unsupportedTransferCoding: "the transfer coding is not chunked"
        case .badChunk: "a chunk is malformed"
        case .bodyTooLarge: "the content is larger than the limit"
        }
    }
}
