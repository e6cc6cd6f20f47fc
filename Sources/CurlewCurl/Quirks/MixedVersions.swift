// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Quirk of libcurl before 8.6 (curl#4885, fixed by curl#12373): it sends several requests at the same time on one
/// HTTP/1.1 connection if another connection to that host has used HTTP/2. This happens if several servers with one
/// host name are configured differently. Callers would receive each other's responses.
///
/// The HTTP version of a connection is unknown until a response head arrives. If the head is HTTP/1.1 and several
/// transfers use the connection, all of them end before any of them receives a byte. On a connection that is known to
/// use HTTP/1.1, no request joins another. Once an origin has used both versions, only HTTP/1.1 is used for the origin.
struct MixedVersions {
    /// The transfers on one connection.
    private struct Occupants {
        var count = 0
        /// Whether the connection has used HTTP/1.1, which allows one transfer at a time.
        var isSerial = false
        /// Whether several transfers have used the HTTP/1.1 connection at the same time. Its further bytes then belong
        /// to no request.
        var isMixed = false
    }

    private var occupants: [ConnectionName: Occupants] = [:]
    private var origins: [Origin] = []
    private static let originLimit = 1024

    static let error = NetworkError(
        .connectionLost(.requestMayHaveArrived),
        detail: "The host alternates between HTTP/2 and HTTP/1.1, so responses could not be attributed to requests.",
        hint: "The next calls use HTTP/1.1. libcurl 8.6 or later does not have this problem.")

    static func areWatched(in transfer: Transfer) -> Bool {
        CurlLibrary.current.mixesVersions && transfer.plan.request.origin.isSecure
            && transfer.plan.owner.configuration.httpVersions == .automatic
    }

    /// Returns whether only HTTP/1.1 is used for an origin, because it has used both versions.
    func areMixed(at origin: Origin) -> Bool { !origins.isEmpty && origins.contains(origin) }

    /// Records that an origin has used both versions.
    mutating func note(_ origin: Origin) {
        guard CurlLibrary.current.mixesVersions else { return }
        if origins.count >= Self.originLimit { origins = [] }
        if !areMixed(at: origin) { origins.append(origin) }
    }

    /// Adds a transfer that is about to be sent on a connection. Returns false if it must not be sent.
    mutating func enter(_ transfer: Transfer, _ connection: ConnectionName?, of multi: MultiHandle) -> Bool {
        leave(transfer)
        guard let connection else { return true }
        if let known = occupants[connection], known.isSerial {
            guard !known.isMixed, others(than: transfer, on: connection, of: multi).isEmpty else { return false }
        }
        occupants[connection, default: Occupants()].count += 1
        transfer.connection.name = connection
        return true
    }

    /// Removes a transfer that has ended or will be sent on another connection.
    mutating func leave(_ transfer: Transfer) {
        guard let connection = transfer.connection.name else { return }
        transfer.connection.name = nil
        guard let there = occupants[connection], there.count > 1 else {
            occupants[connection] = nil
            return
        }
        occupants[connection]?.count -= 1
    }

    /// Returns the transfers that must end, `transfer` included, because their responses cannot be attributed to
    /// requests. Empty if there is no conflict. Called when the response head of `transfer` is complete.
    mutating func mixedUp(by transfer: Transfer, of multi: MultiHandle) -> [Transfer] {
        guard transfer.received.head.version != .http2, let connection = transfer.connection.name,
            let there = occupants[connection]
        else { return [] }
        guard !there.isMixed else { return [transfer] }
        occupants[connection]?.isSerial = true
        guard there.count > 1 else { return [] }
        let others = others(than: transfer, on: connection, of: multi)
        guard !others.isEmpty else { return [] }
        occupants[connection]?.isMixed = true
        note(transfer.plan.request.origin)
        return others + [transfer]
    }

    /// Returns the other transfers on a connection that libcurl has not finished. Finished ones are no longer counted.
    private mutating func others(
        than transfer: Transfer, on connection: ConnectionName, of multi: MultiHandle
    ) -> [Transfer] {
        let others = multi.active.values.filter { $0.connection.name == connection && $0 !== transfer }
        for other in others where !other.isAttached { leave(other) }
        return others.filter { $0.connection.name == connection }
    }
}

extension MultiHandle {
    /// Returns whether the response can be attributed to the request of `transfer`. If not, ends the other transfers on
    /// the connection. Called when the response head is complete.
    func hasOwnResponse(_ transfer: Transfer) -> Bool {
        let mixed = loop.mixedVersions.mixedUp(by: transfer, of: self)
        for other in mixed where other !== transfer { add(.end(other, MixedVersions.error)) }
        return mixed.isEmpty
    }
}

extension Transfer {
    /// Whether libcurl still has a connection for the transfer. The check is a call of `curl_easy_pause` that changes
    /// nothing.
    fileprivate var isAttached: Bool {
        guard let easy else { return false }
        let bits = (isReceivingPaused ? CURLPAUSE_RECV : 0) | (isSendingPaused ? CURLPAUSE_SEND : 0)
        return curl_easy_pause(easy.pointer, bits) != CURLE_BAD_FUNCTION_ARGUMENT
    }
}
#endif
