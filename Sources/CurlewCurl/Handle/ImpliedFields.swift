// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewHTTP

/// The properties of a request, other than its fields, that determine the sent fields.
struct Implied: Equatable {
    let hasUpload: Bool
    let definesContent: Bool
    let decodesContent: Bool
    /// The value of the `Trailer` field.
    let trailers: String?
}

extension HTTPMethod {
    /// Whether the method defines a meaning for content. Such a request sends Content-Length: 0 if it has no content
    /// (RFC 9110 §8.6).
    var definesContent: Bool {
        self == .post || self == .put || self == .patch
    }
}
#endif
