// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The current settings of a handle.
struct Current {
    var headers: HTTPHeaders?
    var implied: Implied?
    var version: Int?
    /// The size in bytes of its receive buffer.
    var room: Int?
    var sendsMuch: Bool?
    var opensConnection: Bool?
    /// The target that replaces the one that libcurl would derive from the URL.
    var target: String?
    /// Whether observers are notified of the addresses that are tried.
    var tellsAddresses = false
    /// The origin for which identity, pins and proxy are set.
    var origin: Origin?
    var proxy: ProxyConfiguration.Server?
    var pins: TLSConfiguration.PinSet?
    /// The pins that new connections are compared with in `ServerCheck`.
    var pathPins: TLSConfiguration.PinSet?
    /// The pins that libcurl enforces; the outer nil means unknown.
    var enforcedPins: String??

    /// Whether the fields are the same and in the same order. Calls of one client usually send copies of one list.
    func has(_ other: HTTPHeaders, _ implied: Implied) -> Bool {
        guard let headers, self.implied == implied, headers.count == other.count else { return false }
        return headers.isCopy(of: other)
            || zip(headers, other).allSatisfy { $0.name.text == $1.name.text && $0.value == $1.value }
    }
}
#endif
