// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Decodes any `Decodable` from JSON, as Foundation's `JSONDecoder` does and several times faster.
///
///     let user = try FastJSONDecoder(keys: .convertFromSnakeCase).decode(User.self, from: data)
///
/// The same models give the same values, and the same cases of `DecodingError` with the same paths. It differs where
/// Foundation is lax: all of the document must be valid JSON (RFC 8259), also what no model reads; no comma may stand
/// before a closing bracket; integers are exact, and a number that does not fit its type says so at its own path; and a
/// syntax error carries a `JSONSyntaxError` with its place. Keys are compared by their bytes, escapes resolved. The keys
/// of a path are plain, except the last one of a field that could not be read.
///
/// A value, to be shared between threads as it is. A decoder or a container that a model keeps goes on working after
/// `decode` has returned, and any number of threads may read it at once.
///
/// At most 512 containers may stand in each other, and a document may have nearly 4 GiB; more of either is an error, and
/// so is what needs the last 64 KB of the thread's stack. Decoding takes time in proportion to the document, whatever
/// its author intended, and memory of four times its size beside the value. So a key with more than 30 combining marks
/// in a row, which would be slow to compare as a `String`, is no key of a dictionary: `[String: Value]` and `JSONValue`
/// refuse it, and `allKeys` leaves it out.
public struct FastJSONDecoder: Sendable {
    /// How the keys of objects become those of models.
    @nonexhaustive
    public enum KeyStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// `created_at` is read as `createdAt`, `_user_name` as `_userName`. The keys of a `[String: Value]` stay.
        case convertFromSnakeCase
    }

    /// What a `Date` looks like.
    @nonexhaustive
    public enum DateStrategy: Sendable {
        /// As `Date` decodes itself: a number of seconds since 2001.
        case deferredToDate
        /// A number of seconds since 1970.
        case secondsSince1970
        /// A number of milliseconds since 1970.
        case millisecondsSince1970
        /// A text in ISO 8601 form, `2026-11-22T10:30:00Z`; fractions of a second only where Foundation's strategy of
        /// this name reads them.
        case iso8601
        /// A text in ISO 8601 form; the second may have a fraction on every platform.
        case iso8601WithOrWithoutFractions
        /// What the closure makes of the value.
        case custom(@Sendable (any Decoder) throws -> Date)
    }

    /// How keys are read; as they are by default.
    public var keyStrategy: KeyStrategy
    /// How dates are read; as `Date` decodes itself by default.
    public var dateStrategy: DateStrategy
    /// What `Decoder.userInfo` gives to models.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// A decoder with these strategies. `Data` is read from Base64, and numbers are always finite.
    public init(keys: KeyStrategy = .useDefaultKeys, dates: DateStrategy = .deferredToDate) {
        keyStrategy = keys
        dateStrategy = dates
    }

    /// The value in `data`: UTF-8 with or without a byte order mark, else UTF-16 or UTF-32.
    ///
    /// Throws `DecodingError`, or whatever a model throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try data.withUnsafeBytes { bytes in
            let encoding = TextEncoding(of: bytes)
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[encoding.start...])
            guard !encoding.isUTF8 else { return try decode(type, text: bytes, encoding, of: bytes) }
            let text: ContiguousArray<UInt8>
            do throws(SyntaxFailure) {
                text = try encoding.utf8(of: bytes)
            } catch {
                throw JSONSyntaxError(error, encoding, of: bytes).asDecodingError
            }
            return try text.withUnsafeBytes { try decode(type, text: $0, encoding, of: bytes) }
        }
    }

    /// The bytes are borrowed: a decoder or a container that a model keeps beyond this call reads from a copy of them.
    private func decode<Value: Decodable>(
        _ type: Value.Type, text: UnsafeRawBufferPointer, _ encoding: TextEncoding, of bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        // Nothing to read has no address.
        let source = Source(base: text.baseAddress ?? UnsafeRawPointer(Source.nothing), count: text.count)
        var document: Document
        do throws(SyntaxFailure) {
            document = try Document(source, options: self, stack: StackRoom())
            // Half a character behind the value.
            if encoding.rest(of: bytes) > 0 { throw SyntaxFailure(.invalidText, at: text.count) }
        } catch {
            throw JSONSyntaxError(error, encoding, of: bytes).asDecodingError
        }
        defer {
            if !isKnownUniquelyReferenced(&document) { document.outliveCall() }
        }
        return try document.value(type, at: 0, in: Tape.noParent)
    }
}
