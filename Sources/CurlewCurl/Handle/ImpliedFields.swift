// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewHTTP

/// What the fields of a request depend on besides the fields themselves.
struct Implied: Equatable {
    let hasUpload: Bool
    let definesContent: Bool
    let decodesContent: Bool
    /// What the `Trailer` field announces.
    let trailers: String?
}

extension HTTPMethod {
    /// Methods that define a meaning for content say so even when there is none (RFC 9110 §8.6).
    var definesContent: Bool {
        self == .post || self == .put || self == .patch
    }
}
#endif
