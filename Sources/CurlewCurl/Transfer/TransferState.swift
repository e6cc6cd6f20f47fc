// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

// The four parts of what is known of an active transfer. Each is a value that the callbacks of libcurl change; none
// calls libcurl.

/// The request, as far as libcurl has sent it.
struct SentRequest {
    /// How often libcurl has begun to send the request.
    private(set) var attempts = 0
    /// Whether the first attempt was on a connection that was opened for it. Set only for requests that must not be
    /// repeated.
    var beganOnNewConnection = false
    /// The bytes of the body that libcurl has taken since it last began.
    var bodyBytes: Int64 = 0
    /// Whether libcurl was paused because the producer is behind.
    var isPaused = false
    /// With an upload: the time at which its request began, and how much later the response began, in nanoseconds.
    private var start: Int64?
    private(set) var responseDelay: Int64?

    /// Records an attempt.
    ///
    /// - `measuring`: whether the delay of the response is measured, which libcurl does not do for uploads.
    mutating func begin(measuring: Bool) {
        attempts += 1
        if measuring { start = TimeoutTracker.now() }
    }

    /// Records that a part of the response has arrived.
    mutating func receive() {
        if let start, responseDelay == nil { responseDelay = TimeoutTracker.now() - start }
    }
}

/// The response, as far as it has arrived. Noncopyable, as its head is.
struct ReceivedResponse: ~Copyable {
    var head: ResponseHead
    /// Whether the end of the final head has been processed.
    var hasHead = false
    /// The body until the response is delivered.
    var gathered = GatheredBody()
    /// The body if the response was delivered before its end.
    var pipe: BodyPipe?
    /// Whether the reader must receive the available bytes at the end of the turn.
    var isDue = false
    /// Whether libcurl was paused because the reader is behind.
    var isPaused = false
    /// Whether the reader receives more than its capacity; see `unpause`.
    var takesAll = false
    /// Whether the transport could not determine the socket on which reading is suspended.
    var holdsUnnamed = false
    /// The decoder, once bytes of a body with content codings have arrived.
    var decoder: ContentDecoder?

    init(head: consuming ResponseHead) {
        self.head = head
    }

    /// Returns the number of bytes of the body, if the head declares it and decoding does not change it.
    borrowing func declaredLength(in plan: TransferPlan) -> Int64? {
        if plan.request.method == .head || head.status.forbidsContent { return 0 }
        return plan.decodesContent && head.codings != nil ? nil : head.content.length
    }
}

/// The connection that libcurl uses for a transfer.
struct UsedConnection {
    /// Its name, if `MixedVersions` counts its transfers.
    var name: ConnectionName?
    /// The socket on which libcurl waits for the transfer, if libcurl has reported it. It does not for every transfer
    /// that joins a connection.
    var socket: Int32?
    /// The known properties of the connection, once it is ready.
    var info: ConnectionInfo?
    /// The latest address that the configuration does not allow, and the reason.
    var refusedAddress: String?
    /// What observers were told of a connection that is being opened.
    private var progress = Progress.none

    private enum Progress { case none, trying, open }

    /// Records that libcurl tries an address.
    mutating func tries() {
        progress = .trying
    }

    /// Records that the connection is open. Returns false if that is known, or if libcurl has tried no address.
    mutating func opens() -> Bool {
        guard progress == .trying else { return false }
        progress = .open
        return true
    }

    /// Records that the request can be sent. Returns whether the connection was opened for it.
    mutating func becomesReady() -> Bool {
        defer { progress = .none }
        return progress != .none
    }
}

/// How a transfer ends.
struct TransferEnding {
    /// Whether further bytes are discarded because the transfer is being ended.
    var isDiscarding = false
    /// Whether the caller has cancelled, and the rest is received to keep the connection.
    var isDraining = false
    /// The error of one of the transport's callbacks. libcurl reports only that a callback failed.
    var failure: NetworkError?
}
#endif
