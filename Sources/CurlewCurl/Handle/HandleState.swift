// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The current options of a handle, so that `EasyHandle.prepare` sets only changes.
struct HandleState {
    var headers: HTTPHeaders?
    var implied: ImpliedFields?
    var version: Int?
    /// The size of the receive buffer in bytes.
    var room: Int?
    /// The size of the send buffer in bytes.
    var sendBuffer: Int?
    var opensConnection: Bool?
    /// The request target that is set instead of the one that libcurl derives from the URL.
    var target: String?
    /// The origin for which the identity, the pins and the proxy are set.
    var origin: Origin?
    var proxy: TransportConfiguration.Proxy.Server?
    var pins: TransportConfiguration.TLS.PinSet?
    /// The pins with which `ServerCheck` compares new connections.
    var pathPins: TransportConfiguration.TLS.PinSet?
    /// The pins that libcurl enforces; the outer nil means unknown.
    var enforcedPins: String??

    /// Returns whether the handle already sends these fields in this order. Calls of one client usually send copies of
    /// one list.
    func has(_ other: HTTPHeaders, _ implied: ImpliedFields) -> Bool {
        guard let headers, self.implied == implied, headers.count == other.count else { return false }
        return headers.isCopy(of: other)
            || zip(headers, other).allSatisfy { $0.name.text == $1.name.text && $0.value == $1.value }
    }
}

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
