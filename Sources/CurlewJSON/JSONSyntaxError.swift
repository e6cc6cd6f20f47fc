// SPDX-License-Identifier: MIT

/// What is wrong with a text that is not JSON, and where: the underlying error of `DecodingError.dataCorrupted`.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of mistakes.
    @nonexhaustive
    public enum Reason: Sendable, Hashable {
        /// A byte that cannot stand here.
        case unexpectedByte
        /// The text ends in the middle of a value.
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
    /// The place as a number of bytes from the start, a byte order mark aside.
    public let offset: Int
    /// The line, from 1.
    public let line: Int
    /// The byte in the line, from 1.
    public let column: Int

    /// Finds line and column by reading the text again, since a document without mistakes needs neither.
    init(_ reason: Reason, _ offset: Int, in bytes: UnsafeRawBufferPointer) {
        let isAtEnd = reason == .unexpectedByte && offset >= bytes.count
        self.reason = isAtEnd ? .unexpectedEnd : reason
        self.offset = min(offset, bytes.count)
        var line = 1
        var start = 0
        for (index, byte) in bytes.prefix(offset).enumerated() where byte == Byte.newline {
            line += 1
            start = index + 1
        }
        self.line = line
        column = self.offset - start + 1
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
