// SPDX-License-Identifier: MIT

extension FastJSONDecoder {
    /// A JSON syntax error, with its reason and position. It is the underlying error of a
    /// `DecodingError.dataCorrupted`.
    ///
    /// The scanner stops at the first error in the document.
    public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The kinds of syntax errors.
        @nonexhaustive
        public enum Reason: Sendable, Hashable {
            /// A byte that JSON does not allow at this position.
            case unexpectedByte
            /// The text ends in the middle of a value. It may have been truncated.
            case unexpectedEnd
            /// Bytes other than white space after the value of the document.
            case trailingBytes
            /// A number that JSON does not allow, such as `01`, `1.`, `.5` or `+1`.
            case invalidNumber
            /// An escape that JSON does not define, or half of a surrogate pair.
            case invalidEscape
            /// A control character inside a string.
            case controlCharacter
            /// Bytes that are not valid text in the encoding of the document.
            case invalidText
            /// More than 512 nested arrays and objects.
            case tooDeep
            /// A document of 4 GiB or more. The limit is 2³² − 2 bytes of UTF-8.
            case tooLarge
        }

        /// The kind of the error.
        public let reason: Reason
        /// The offset of the error in bytes, in the encoding of the document. It is counted from the start of the
        /// document or, if there is a byte order mark, from the end of the mark.
        ///
        /// For most errors, this is the first byte that cannot be valid; for an invalid escape, its backslash; for
        /// `unexpectedEnd`, the end of the text.
        public let offset: Int
        /// The line number of the error, from 1. LF, CR and CR LF end a line.
        public let line: Int
        /// The position of the error in its line, in bytes, from 1.
        public let column: Int

        /// Creates the error from a failure of the scanner. Converts the position, which is an offset in UTF-8, to the
        /// position in the original document.
        init(_ failure: SyntaxFailure, _ encoding: TextEncoding, of bytes: UnsafeRawBufferPointer) {
            (offset, line, column) = encoding.position(of: failure.offset, in: bytes)
            let end = bytes.count - encoding.remainder(of: bytes)
            reason = failure.reason == .unexpectedByte && offset >= end ? .unexpectedEnd : failure.reason
        }

        /// The reason and the position of the error as text.
        public var description: String { "\(reason) at line \(line), column \(column) (byte \(offset))" }

        /// The `DecodingError` that Foundation's decoder would throw, with this error as its underlying error.
        var asDecodingError: DecodingError {
            .dataCorrupted(
                DecodingError.Context(
                    codingPath: [], debugDescription: "The given data was not valid JSON.", underlyingError: self))
        }
    }
}

/// A syntax error as the scanner throws it, without text. The offset refers to UTF-8.
struct SyntaxFailure: Error {
    let reason: FastJSONDecoder.SyntaxError.Reason
    let offset: Int

    init(_ reason: FastJSONDecoder.SyntaxError.Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
