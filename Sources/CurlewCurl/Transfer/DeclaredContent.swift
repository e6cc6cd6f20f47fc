// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewHTTP

/// The properties of a response body that the fields of the response declare.
struct DeclaredContent {
    /// The declared length of the body in bytes; nil without `Content-Length` or with `Transfer-Encoding` (RFC 9112
    /// §6.3).
    private(set) var length: Int64?
    /// Whether the declared length is not a number, is too large, or is ambiguous, or a field that determines the end
    /// of the body is folded, so that this end is unknown.
    private(set) var hasBadLength = false
    /// The content codings in the order in which they were applied. Nil if none is declared, or if one of them is
    /// unknown: the body is then delivered as received.
    private(set) var codings: [ContentCoding]?
    /// Whether the response declares more than five content codings. Each of them may multiply the size of the body.
    private(set) var hasTooManyCodings = false

    private static let maximumCodings = 5

    /// Creates a value without declarations.
    init() {}

    /// Takes the length that a parser has determined.
    init(_ head: HTTP1ResponseHead) {
        if case .length(let count) = head.framing { length = Int64(count) }
        if head.headers.contains(.contentEncoding) { readCodings(head.headers) }
    }

    init(_ headers: HTTPHeaders, isFolded: Bool) {
        hasBadLength = isFolded
        if headers.contains(.contentEncoding) { readCodings(headers) }
        guard headers.contains(.contentLength), !headers.contains(.transferEncoding) else { return }
        for text in headers[values: .contentLength] {
            guard let length = Self.length(text), self.length == nil || self.length == length else {
                hasBadLength = true
                return
            }
            self.length = length
        }
    }

    private mutating func readCodings(_ headers: HTTPHeaders) {
        let names = headers[values: .contentEncoding].flatMap { $0.parts(",").map { $0.trimmed().lowercased() } }
            .filter { !$0.isEmpty && $0 != "identity" }
        hasTooManyCodings = names.count > Self.maximumCodings
        let known = names.compactMap { ContentCoding($0) }.filter(\.isAvailable)
        if !known.isEmpty, known.count == names.count { codings = known }
    }

    /// Parses a value of `Content-Length`: a number, or a list that repeats the same number, because intermediaries
    /// join repeated fields. Returns nil for any other text.
    private static func length(_ text: String) -> Int64? {
        if let length = ASCII.decimal(text[...]) { return length }
        let parts = text.parts(",", keepingEmpty: true).map { $0.without() }
        guard parts.count > 1, let first = parts.first, parts.allSatisfy({ $0 == first }) else { return nil }
        return length(first)
    }
}
#endif
