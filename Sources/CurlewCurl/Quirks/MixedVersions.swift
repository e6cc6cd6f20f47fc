// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Quirk of libcurl before 8.6 (curl#4885, mended by curl#12373): it puts several requests on a connection in use although
/// that speaks HTTP/1.1, once another one to that host has spoken HTTP/2, as a host does whose machines are configured
/// differently. Callers then get each other's answers.
///
/// Nothing tells which version a connection speaks before the head of an answer. So the head decides: if it is of
/// HTTP/1.1 and its transfer is not alone on the connection, all of them end before any sees a byte. No request joins
/// a connection that is known to speak HTTP/1.1. And once an origin was seen to do both, it is asked for HTTP/1.1 only.
struct MixedVersions {
    /// The transfers that are on one connection.
    private struct Occupants {
        var count = 0
        /// It has been seen to speak HTTP/1.1, which has room for one.
        var isSerial = false
        /// It has been seen to carry several nevertheless: what still comes belongs to no request.
        var isMixed = false
    }

    private var occupants: [ConnectionName: Occupants] = [:]
    private var origins: Set<Origin> = []
    private static let originLimit = 1024

    static let error = NetworkError(
        .connectionLost(.requestMayHaveArrived),
        detail: "The host speaks now HTTP/2 and now HTTP/1.1, and its answers could not be told apart.",
        hint: "The next calls use HTTP/1.1. A libcurl of version 8.6 or later needs no such care.")

    static func areWatched(in transfer: Transfer) -> Bool {
        CurlLibrary.current.mixesVersions && transfer.request.origin.isSecure
            && transfer.owner.configuration.httpVersions == .automatic
    }

    /// Whether an origin is asked for HTTP/1.1 only from now on.
    func areMixed(at origin: Origin) -> Bool { !origins.isEmpty && origins.contains(origin) }

    /// An origin has spoken both.
    mutating func note(_ origin: Origin) {
        guard CurlLibrary.current.mixesVersions else { return }
        if origins.count >= Self.originLimit { origins = [] }
        origins.insert(origin)
    }

    /// A transfer is about to be sent over a connection. False if it must not.
    ///
    /// - `others`: the other transfers on that connection.
    mutating func enter(_ transfer: Transfer, _ connection: ConnectionName?, others: (ConnectionName) -> [Transfer])
        -> Bool
    {
        leave(transfer)
        guard let connection else { return true }
        if let known = occupants[connection], known.isSerial {
            guard !known.isMixed, attached(others(connection)).isEmpty else { return false }
        }
        occupants[connection, default: Occupants()].count += 1
        transfer.connection = connection
        return true
    }

    /// A transfer is over, or will be sent over another connection.
    mutating func leave(_ transfer: Transfer) {
        guard let connection = transfer.connection else { return }
        transfer.connection = nil
        guard let there = occupants[connection], there.count > 1 else {
            occupants[connection] = nil
            return
        }
        occupants[connection]?.count -= 1
    }

    /// The head of a response is complete. The transfers that end because it cannot be told whose it is, that of the head
    /// among them; empty when all is well.
    mutating func mixedUp(by transfer: Transfer, others: (ConnectionName) -> [Transfer]) -> [Transfer] {
        guard transfer.head.version != .http2, let connection = transfer.connection, let there = occupants[connection]
        else { return [] }
        guard !there.isMixed else { return [transfer] }
        occupants[connection]?.isSerial = true
        guard there.count > 1 else { return [] }
        let others = attached(others(connection).filter { $0 !== transfer })
        guard !others.isEmpty else { return [] }
        occupants[connection]?.isMixed = true
        note(transfer.request.origin)
        return others + [transfer]
    }

    /// Without those that libcurl has done with, and that have not been taken off it yet.
    private mutating func attached(_ transfers: [Transfer]) -> [Transfer] {
        transfers.filter { transfer in
            if transfer.isAttached { return true }
            leave(transfer)
            return false
        }
    }
}

extension MultiHandle {
    /// A transfer is about to be sent over a connection. False if it must not.
    func enter(_ transfer: Transfer, _ connection: ConnectionName?) -> Bool {
        loop.mixedVersions.enter(transfer, connection) { name in transfers(on: name).filter { $0 !== transfer } }
    }

    /// The head of a response is there. False if it cannot be told whose it is.
    func mayAnswer(_ transfer: Transfer) -> Bool {
        let mixed = loop.mixedVersions.mixedUp(by: transfer, others: transfers)
        for other in mixed where other !== transfer { add(.end(other, MixedVersions.error)) }
        return mixed.isEmpty
    }
}

extension Transfer {
    /// Whether libcurl still has a connection for it. Asked by a pause that changes nothing.
    fileprivate var isAttached: Bool {
        guard let easy else { return false }
        let bits = (isReceivePaused ? CURLPAUSE_RECV : 0) | (isSendPaused ? CURLPAUSE_SEND : 0)
        return curl_easy_pause(easy.pointer, bits) != CURLE_BAD_FUNCTION_ARGUMENT
    }
}
#endif
