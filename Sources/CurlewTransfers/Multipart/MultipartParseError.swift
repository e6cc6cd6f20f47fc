// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The reason why a multipart body cannot be parsed. The rest of the body is then unusable.
enum MultipartParseError: Error, Hashable, Sendable {
    /// A boundary that is empty, longer than 70 bytes, ends with a space, or has bytes outside of printable ASCII.
    case badBoundary
    /// The body has no delimiter: it is not multipart, or the boundary is that of another body.
    case noDelimiter
    /// Other bytes than spaces follow a delimiter on its line.
    case badDelimiter
    /// A field in the head of a part is malformed.
    case badField(HTTP1ParseError)
    case headTooLarge
    case tooManyFields
    case tooManyParts
    case preambleTooLarge
    /// The body ends before its last delimiter.
    case truncated
}

extension MultipartParseError: CustomStringConvertible {
    var description: String {
        switch self {
        case .badBoundary: "the boundary is not 1 to 70 printable ASCII characters, the last one not a space"
        case .noDelimiter: "the body does not contain its boundary"
        case .badDelimiter: "a delimiter is followed by other characters on its line"
        case .badField(let error): "the head of a part is malformed: \(error)"
        case .headTooLarge: "the head of a part is larger than the limit"
        case .tooManyFields: "a part has more fields than the limit"
        case .tooManyParts: "there are more parts than the limit"
        case .preambleTooLarge: "there is more text before the first part than the limit"
        case .truncated: "the body ends before its last delimiter"
        }
    }
}
