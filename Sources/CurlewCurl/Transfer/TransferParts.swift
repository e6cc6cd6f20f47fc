// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

// What is known of an active transfer, in values that libcurl's callbacks change. None of them calls libcurl.

/// The progress of the request that libcurl sends.
struct SentRequest {
    /// The number of times that libcurl has begun to send the request.
    private(set) var attempts = 0
    /// Whether libcurl first sent the request on a connection that was opened for it. Set only for requests that must
    /// not be repeated.
    var beganOnNewConnection = false
    /// The number of body bytes that libcurl has taken since it last began to send the request.
    var bodyBytes: Int64 = 0
    /// With an upload, the time at which libcurl last began to send the request, in nanoseconds.
    private var start: Int64?
    var hasUpload: Bool { start != nil }
    /// With an upload, the time from `start` until the response began, in nanoseconds; nil until then.
    private(set) var responseDelay: Int64?

    /// Records that libcurl begins to send the request.
    ///
    /// - `measuring`: whether to measure the delay of the response, because libcurl does not measure it for uploads.
    mutating func begin(measuring: Bool) {
        attempts += 1
        if measuring { start = TimeoutTracker.now() }
    }

    /// Records that a part of the response has arrived.
    mutating func receive() {
        if let start, responseDelay == nil { responseDelay = TimeoutTracker.now() - start }
    }
}

/// The received part of the response. Noncopyable, because its head is.
struct ReceivedResponse: ~Copyable {
    var head: ResponseHead
    /// Whether the end of the final head has been processed.
    var hasHead = false
    /// The bytes of the body until the response is delivered.
    var gathered = GatheredBody()
    /// The pipe to the reader, if the response is delivered before the end of its body.
    var pipe: BodyPipe?
    /// Whether the reader must receive the available bytes at the end of the turn.
    var isDue = false
    /// Whether the pipe accepts more bytes than its capacity; see `Transfer.unpause(_:)`.
    var takesAll = false
    /// The decoder, once bytes of a body with content codings have arrived.
    var decoder: ContentDecoder?

    init(head: consuming ResponseHead) {
        self.head = head
    }
}

/// The connection that libcurl uses for a transfer.
struct UsedConnection {
    /// The duration of the name lookup in nanoseconds, once it is complete. libcurl has the addresses then, and looks
    /// up any other name itself.
    var lookupTime: Int64?
    /// The name of the connection, while `MixedVersions` counts the transfer on it.
    var name: ConnectionName?
    /// The socket on which libcurl waits for the transfer; nil if unknown. libcurl does not report the socket for every
    /// transfer that joins a connection.
    var socket: Int32?
    /// The known properties of the connection, once it is ready.
    var info: ExchangeMetrics.Connection?
    /// The latest address that the address policy refused, and the reason.
    var refusedAddress: String?
    /// Whether the process had no descriptor for the latest socket.
    var lacksDescriptor = false
    /// The progress of opening a connection, as reported to observers.
    private var progress = Progress.none

    private enum Progress { case none, trying, open }

    /// Records that libcurl tries an address.
    mutating func tries() {
        progress = .trying
    }

    /// Records that the connection is open. Returns false if this is already recorded, or if libcurl has tried no
    /// address.
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
#endif
