// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The transfers that are on one connection.
struct Occupants {
    var count = 0
    /// It has been seen to speak HTTP/1.1, which has room for one.
    var isSerial = false
    /// It has been seen to carry several nevertheless: what still comes belongs to nobody.
    var isMixed = false
}

/// Keeps callers from getting each other's answers at an origin that speaks now HTTP/2 and now HTTP/1.1, as a host does
/// whose machines are configured differently: older versions of libcurl then put several requests on a connection that
/// can answer only one at a time, and give the answers to anybody (`CurlLibrary.mixesVersions`).
///
/// Nothing tells which version a connection speaks before the head of an answer. So the head decides: if it is of
/// HTTP/1.1 and its transfer is not alone on the connection, all of them end before any sees a byte. Nobody joins a
/// connection that is known to speak HTTP/1.1. And once an origin was seen to do both, it is asked for HTTP/1.1 only.
extension CurlAgent {
    static let mixedError = NetworkError(
        .connectionLost(.requestMayHaveArrived),
        detail: "The host speaks now HTTP/2 and now HTTP/1.1, and its answers could not be told apart.",
        hint: "The next calls use HTTP/1.1. A libcurl of version 8.6 or later needs no such care.")

    var watchesOccupants: Bool {
        CurlLibrary.current.mixesVersions && configuration.httpVersions == .automatic
    }

    /// A transfer is about to be sent over a connection. False if it must not.
    func enter(_ transfer: Transfer, _ connection: ConnectionName?) -> Bool {
        leaveConnection(transfer)
        guard let connection else { return true }
        if let known = occupants[connection], known.isSerial {
            guard !known.isMixed, others(on: connection, besides: transfer).isEmpty else { return false }
        }
        var there = occupants[connection] ?? Occupants()
        there.count += 1
        occupants[connection] = there
        transfer.connection = connection
        return true
    }

    /// A transfer is over, or will be sent over another connection.
    func leaveConnection(_ transfer: Transfer) {
        guard let connection = transfer.connection else { return }
        transfer.connection = nil
        guard var there = occupants[connection], there.count > 1 else {
            occupants[connection] = nil
            return
        }
        there.count -= 1
        occupants[connection] = there
    }

    /// The head of an answer is there. False if nobody knows whose answer it is.
    func noteSpoken(_ version: HTTPVersion, by transfer: Transfer) -> Bool {
        guard version != .http2, let connection = transfer.connection, let there = occupants[connection] else {
            return true
        }
        guard !there.isMixed else { return false }
        occupants[connection]?.isSerial = true
        guard there.count > 1 else { return true }
        let others = others(on: connection, besides: transfer)
        guard !others.isEmpty else { return true }
        occupants[connection]?.isMixed = true
        transfer.place?.noteMix()
        mixedUp += others
        return false
    }

    /// Those that are on a connection too. One that libcurl has done with, and that has not been taken off it yet, is not.
    private func others(on connection: ConnectionName, besides transfer: Transfer) -> [Transfer] {
        let there = transfers.values.filter { $0.connection == connection && $0 !== transfer }
        for other in there where !other.isAttached {
            leaveConnection(other)
        }
        return there.filter { $0.connection == connection }
    }

    /// Ends those that stood beside one whose head was of HTTP/1.1.
    func endMixedUp() {
        guard !mixedUp.isEmpty else { return }
        let transfers = mixedUp
        mixedUp = []
        for transfer in transfers { end(transfer, with: Self.mixedError) }
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
