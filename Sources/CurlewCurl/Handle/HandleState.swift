// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// What a handle has been given.
struct Current {
    var headers: HTTPHeaders?
    var implied: Implied?
    var version: Int?
    /// Bytes of its buffer for what it receives.
    var room: Int?
    var sendsMuch: Bool?
    var opensConnection: Bool?
    /// The target that stands in for the one that libcurl would make of the URL.
    var target: String?
    /// Observers hear of the addresses that are tried.
    var tellsAddresses = false
    /// For whom identity, pins and proxy are set.
    var origin: Origin?
    var proxy: ProxyServer?
    var pins: PinSet?
    /// The pins that new connections are compared with here.
    var pathPins: PinSet?
    /// The pins that libcurl enforces; the outer nil means that nobody knows.
    var enforcedPins: String??

    /// The same fields in the same order. Calls of one client mostly send copies of one list.
    func has(_ other: HTTPHeaders, _ implied: Implied) -> Bool {
        guard let headers, self.implied == implied, headers.count == other.count else { return false }
        return headers.isCopy(of: other)
            || zip(headers, other).allSatisfy { $0.name.text == $1.name.text && $0.value == $1.value }
    }
}
#endif
