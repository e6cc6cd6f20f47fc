// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// Decodes any `Decodable` type from JSON, like Foundation's `JSONDecoder` but several times faster.
///
///     let user = try FastJSONDecoder(keys: .convertFromSnakeCase).decode(User.self, from: data)
///
/// The same models produce the same values, and the same cases of `DecodingError` with the same coding paths. The
/// decoder differs from Foundation's in these points:
///
/// - The complete document must be valid JSON (RFC 8259), including the parts that no model reads. Trailing commas are
///   errors. Only UTF-8 is accepted, not the other encodings of earlier standards.
/// - Integers are exact. A number that does not fit its type is reported at its own coding path.
/// - A syntax error contains a `FastJSONDecoder.SyntaxError` with its position.
/// - Keys are compared by their bytes, after escapes are resolved.
/// - Coding paths consist of generic keys. Only the last key may be a key of the model: for a member that is missing or
///   could not be read.
///
/// The decoder is a value and can be shared between threads. A decoder or container that a model keeps remains usable
/// after `decode` has returned, and any number of threads may read it concurrently.
///
/// Containers may be nested at most 512 deep, and a document may be nearly 4 GiB long. `decode` throws if a document
/// exceeds either limit, or if less than 64 KB of the thread's stack is left when a container is read.
///
/// Decoding takes time proportional to the size of the document, even for hostile input. In addition to the value, it
/// uses memory of about four times that size. A key with more than 30 consecutive combining marks would be slow to
/// compare as a `String`. `[String: Value]` and `JSONValue` therefore reject it, and `allKeys` omits it.
public struct FastJSONDecoder: Sendable {
    /// The conversion of the keys of JSON objects to the keys of models.
    @nonexhaustive
    public enum KeyStrategy: Sendable {
        /// Keys are not converted.
        case useDefaultKeys
        /// `created_at` is read as `createdAt`, and `_user_name` as `_userName`. The keys of a `JSONValue` are
        /// converted, too, those of a `[String: Value]` are not.
        case convertFromSnakeCase
    }

    /// The representation of a `Date` in JSON.
    @nonexhaustive
    public enum DateStrategy: Sendable {
        /// The representation that `Date` itself decodes: the number of seconds since 1 January 2001.
        case deferredToDate
        /// The number of seconds since 1 January 1970.
        case secondsSince1970
        /// The number of milliseconds since 1 January 1970.
        case millisecondsSince1970
        /// A string in ISO 8601 format, such as `2026-11-22T10:30:00Z`. Fractions of a second are accepted only on
        /// platforms where Foundation's strategy of the same name accepts them.
        case iso8601
        /// A string in ISO 8601 format. The seconds may have a fraction on every platform.
        case iso8601WithOrWithoutFractions
        /// The date that the closure returns. A null is an error, and the closure is not called for it.
        case custom(@Sendable (any Decoder) throws -> Date)
    }

    /// The conversion of keys. The default is no conversion.
    public var keyStrategy: KeyStrategy
    /// The representation of dates. The default is `.deferredToDate`.
    public var dateStrategy: DateStrategy
    /// The values that models find in `Decoder.userInfo`. Empty by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder with these strategies. `Data` is always decoded from Base64, and numbers are always finite.
    public init(keys: KeyStrategy = .useDefaultKeys, dates: DateStrategy = .deferredToDate) {
        keyStrategy = keys
        dateStrategy = dates
    }

    /// Decodes a value from JSON in UTF-8, with or without a byte order mark. A decoder or container that a model keeps
    /// reads from a copy of the bytes.
    ///
    /// Throws `DecodingError`, or the error that a model throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try data.withUnsafeBytes { bytes in
            let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
            let text = hasMark ? UnsafeRawBufferPointer(rebasing: bytes[3...]) : bytes
            // An empty buffer has no base address.
            let source = Source(base: text.baseAddress ?? UnsafeRawPointer(Source.nothing), count: text.count)
            var document: Document
            do throws(SyntaxFailure) {
                document = try Document(source, options: self, stack: StackRoom())
            } catch {
                throw FastJSONDecoder.SyntaxError(error, in: text).asDecodingError
            }
            defer {
                if !isKnownUniquelyReferenced(&document) { document.outliveCall() }
            }
            return try document.value(type, at: 0, in: Tape.noParent)
        }
    }
}

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
            /// Bytes that are not valid UTF-8.
            case invalidText
            /// More than 512 nested arrays and objects.
            case tooDeep
            /// A document of more than 2³² − 2 bytes, nearly 4 GiB.
            case tooLarge
        }

        /// The kind of the error.
        public let reason: Reason
        /// The offset of the error in bytes, counted from the start of the document or, if there is a byte order mark,
        /// from the end of the mark.
        ///
        /// For most errors, this is the first byte that cannot be valid; for an invalid escape, its backslash; for
        /// `unexpectedEnd`, the end of the text.
        public let offset: Int
        /// The line number of the error, from 1. LF, CR and CR LF end a line.
        public let line: Int
        /// The position of the error in its line, in bytes, from 1.
        public let column: Int

        init(_ failure: SyntaxFailure, in bytes: UnsafeRawBufferPointer) {
            offset = min(failure.offset, bytes.count)
            reason = failure.reason == .unexpectedByte && offset == bytes.count ? .unexpectedEnd : failure.reason
            var (line, lineStart, followsReturn) = (1, 0, false)
            for (position, byte) in bytes.prefix(offset).enumerated() {
                if byte == Byte.newline || byte == Byte.carriageReturn {
                    if byte != Byte.newline || !followsReturn { line += 1 }
                    lineStart = position + 1
                }
                followsReturn = byte == Byte.carriageReturn
            }
            (self.line, column) = (line, offset - lineStart + 1)
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

/// A syntax error as the scanner throws it, without its line.
struct SyntaxFailure: Error {
    let reason: FastJSONDecoder.SyntaxError.Reason
    let offset: Int

    init(_ reason: FastJSONDecoder.SyntaxError.Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
