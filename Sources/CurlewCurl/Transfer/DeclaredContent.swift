// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewHTTP

/// What the fields of an answer tell about its body.
struct DeclaredContent {
    /// The length of the body as declared, if there is one and it counts (RFC 9112 §6.3).
    private(set) var length: Int64?
    /// The declared length is no number, too large for one, or not the only one: nobody can tell where the body ends.
    private(set) var hasBadLength = false
    /// The content codings in the order in which they were applied; nil if there is no field about them, or one of them is
    /// not known here: then the body is handed over as it came.
    private(set) var codings: [ContentCoding]?
    /// More content codings than anybody needs, each of which multiplies what a body becomes.
    private(set) var hasTooManyCodings = false

    private static let mostCodings = 5

    /// Nothing is told.
    init() {}

    init(_ headers: HTTPHeaders) {
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
        hasTooManyCodings = names.count > Self.mostCodings
        let known = names.compactMap { ContentCoding($0) }.filter(\.isAvailable)
        if !known.isEmpty, known.count == names.count { codings = known }
    }

    /// A number, or the same one several times, which is what some servers' repeated fields become on the way.
    private static func length(_ text: String) -> Int64? {
        if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) { return Int64(text) }
        let parts = text.parts(",", keepingEmpty: true).map { $0.without() }
        guard parts.count > 1, let first = parts.first, parts.allSatisfy({ $0 == first }) else { return nil }
        return length(first)
    }
}
#endif
