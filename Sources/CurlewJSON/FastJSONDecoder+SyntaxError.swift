// SPDX-License-Identifier: MIT

extension FastJSONDecoder {
    /// The reason and position of a JSON syntax error: the underlying error of `DecodingError.dataCorrupted`.
    ///
    /// The scanner stops at the first error in the document.
    public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The kinds of syntax errors.
        @nonexhaustive
        public enum Reason: Sendable, Hashable {
            /// A byte that is not allowed at this position.
            case unexpectedByte
            /// The text ends in the middle of a value. It may have been truncated.
            case unexpectedEnd
            /// Bytes after the value of the document.
            case trailingBytes
            /// A number that is not valid in JSON: `01`, `1.`, `.5`, `+1`.
            case invalidNumber
            /// An escape that JSON does not define, or half of a surrogate pair.
            case invalidEscape
            /// A control character inside a string.
            case controlCharacter
            /// Bytes that are not valid text in the encoding of the document.
            case invalidText
            /// More than 512 nested containers.
            case tooDeep
            /// A document of 4 GiB or more.
            case tooLarge
        }

        /// The kind of error.
        public let reason: Reason
        /// The byte offset from the start of the document, in its own encoding and without a byte order mark, of the
        /// first byte that cannot be valid; for an escape, of its backslash. For `unexpectedEnd`, the offset of the end
        /// of the text.
        public let offset: Int
        /// The line number, from 1. LF, CR and CR LF end a line.
        public let line: Int
        /// The byte position in the line, from 1.
        public let column: Int

        /// Converts the position of a failure in the UTF-8 to a position in the original document.
        init(_ failure: SyntaxFailure, _ encoding: TextEncoding, of bytes: UnsafeRawBufferPointer) {
            (offset, line, column) = encoding.position(of: failure.offset, in: bytes)
            let end = bytes.count - encoding.rest(of: bytes)
            reason = failure.reason == .unexpectedByte && offset >= end ? .unexpectedEnd : failure.reason
        }

        /// The reason and the position as text.
        public var description: String { "\(reason) at line \(line), column \(column) (byte \(offset))" }

        /// The error as Foundation reports it, with the position added.
        var asDecodingError: DecodingError {
            .dataCorrupted(
                DecodingError.Context(
                    codingPath: [], debugDescription: "The given data was not valid JSON.", underlyingError: self))
        }
    }
}

/// A syntax error as the scanner throws it: two machine words without text.
struct SyntaxFailure: Error {
    let reason: FastJSONDecoder.SyntaxError.Reason
    let offset: Int

    init(_ reason: FastJSONDecoder.SyntaxError.Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
