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
#endif
