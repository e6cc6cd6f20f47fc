// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewHTTP

/// The properties of a request, other than its own fields, that determine which fields are sent.
struct ImpliedFields: Equatable {
    let hasUpload: Bool
    let definesContent: Bool
    let decodesContent: Bool
    /// Whether the request asks to switch to another protocol, so that its body has no framing.
    let isUpgrade: Bool
    /// The value of the `Trailer` field; nil if the request has no trailers.
    let trailers: String?
}

extension HTTPMethod {
    /// Whether the method defines a meaning for content. A request with such a method sends `Content-Length: 0` if it
    /// has no content (RFC 9110 §8.6).
    var definesContent: Bool {
        self == .post || self == .put || self == .patch
    }
}
#endif
