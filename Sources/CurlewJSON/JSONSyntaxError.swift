// SPDX-License-Identifier: MIT

/// What is wrong with a text that is not JSON, and where: the underlying error of `DecodingError.dataCorrupted`.
///
/// The scanner stops at the first mistake, from the start of the document.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of mistakes.
    @nonexhaustive
    public enum Reason: Sendable, Hashable {
        /// A byte that cannot stand here.
        case unexpectedByte
        /// The text ends in the middle of a value: more bytes might have made it JSON, so it may have been cut off.
        case unexpectedEnd
        /// Something follows the value of the document.
        case trailingBytes
        /// A number that JSON writes otherwise: `01`, `1.`, `.5`, `+1`.
        case invalidNumber
        /// An escape that JSON does not have, or half of a surrogate pair.
        case invalidEscape
        /// A control character inside a string.
        case controlCharacter
        /// Bytes that are not text in the encoding of the document.
        case invalidText
        /// More than 512 containers in each other.
        case tooDeep
        /// A document of 4 GiB or more.
        case tooLarge
    }

    /// What is wrong.
    public let reason: Reason
    /// The place as a number of bytes from the start of the document, in its own encoding, a byte order mark aside: the
    /// first byte that cannot be right; of an escape its backslash. For `unexpectedEnd`, where the text ends.
    public let offset: Int
    /// The line, from 1. LF, CR and CR LF end one.
    public let line: Int
    /// The byte in the line, from 1.
    public let column: Int

    /// Finds the place in the document of a failure in its UTF-8.
    init(_ failure: SyntaxFailure, _ encoding: TextEncoding, of bytes: UnsafeRawBufferPointer) {
        (offset, line, column) = encoding.position(of: failure.offset, in: bytes)
        let end = bytes.count - encoding.rest(of: bytes)
        reason = failure.reason == .unexpectedByte && offset >= end ? .unexpectedEnd : failure.reason
    }

    /// The reason and the place in words.
    public var description: String { "\(reason) at line \(line), column \(column) (byte \(offset))" }

    /// As Foundation reports it, except that the place is there.
    var asDecodingError: DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: [], debugDescription: "The given data was not valid JSON.", underlyingError: self))
    }
}

/// A mistake as the scanner throws it: two words, no text.
struct SyntaxFailure: Error {
    let reason: JSONSyntaxError.Reason
    let offset: Int

    init(_ reason: JSONSyntaxError.Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
