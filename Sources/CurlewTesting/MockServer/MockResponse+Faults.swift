// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension MockResponse {
    /// The point at which a response is interrupted. Byte counts refer to the content, without chunk framing.
    public enum Stage: Hashable, Sendable {
        /// When the request begins to arrive. The server neither reads nor records the request. Applies to enqueued
        /// responses only: a route is selected after the request has been read, and treats this stage as
        /// ``beforeHead``.
        case beforeRequestRead
        /// After the request has been read and the informational heads have been sent, before the final head.
        case beforeHead
        /// After half of the bytes of the final head.
        case insideHead
        /// After the complete head, before the content.
        case afterHead
        /// After this number of content bytes, or after all of them if there are fewer. With 0, the interruption is
        /// directly after the head.
        case afterBytes(Int)
    }

    /// The way in which a response is interrupted.
    public enum Interruption: Hashable, Sendable, CaseIterable {
        /// The connection is closed in an orderly way: the client reads the end of the stream.
        case close
        /// The server closes only its sending side, and keeps the connection open until the client closes it.
        case halfClose
        /// The connection is reset (TCP RST). Bytes that were sent just before the reset may be lost.
        case reset
        /// Nothing more is sent. The connection stays open until the client closes it or the server stops.
        case stall
    }

    /// The part of a response before which a delay occurs.
    public enum DelayPoint: Hashable, Sendable {
        /// Before the final head.
        case head
        /// Between the head and the content.
        case body
    }

    /// Returns a copy that is sent up to `stage` and then interrupted by `interruption`.
    public func interrupted(by interruption: Interruption, at stage: Stage) -> MockResponse {
        changed { $0.faults.cut = Faults.Cut(stage: stage, interruption: interruption) }
    }

    /// Returns a copy that is sent up to this stage, and then interrupted by `Interruption.stall`.
    public func stalled(at stage: Stage) -> MockResponse {
        interrupted(by: .stall, at: stage)
    }

    /// Returns a copy that is sent up to this stage, and then interrupted by `Interruption.reset` (TCP RST).
    public func reset(at stage: Stage) -> MockResponse {
        interrupted(by: .reset, at: stage)
    }

    /// Returns a copy that is truncated: its head declares the complete content, but the server closes the connection
    /// in an orderly way after this number of content bytes.
    public func truncated(after bytes: Int) -> MockResponse {
        interrupted(by: .close, at: .afterBytes(bytes))
    }

    /// Returns a copy that is delayed before its head or before its content. The delay ends early when the client
    /// closes the connection or the server stops.
    public func delayed(by delay: Duration, at point: DelayPoint = .head) -> MockResponse {
        changed { response in
            switch point {
            case .head: response.faults.headDelay = delay
            case .body: response.faults.bodyDelay = delay
            }
        }
    }

    /// Returns a copy that is sent in pieces of this size, with a pause after each. With `.body`, the default, only the
    /// content is sent in this way; with `.head`, both the head and the content are.
    public func dripping(
        bytesPerChunk: Int, every pause: Duration, from point: DelayPoint = .body
    ) -> MockResponse {
        changed {
            $0.faults.pace = Faults.Pace(bytes: max(1, bytesPerChunk), pause: pause, includesHead: point == .head)
        }
    }

    /// Returns a copy that is sent as soon as the head of its request has arrived, without waiting for the content.
    /// Applies to enqueued responses only. The request is recorded without content.
    ///
    /// The server reads and discards the content, unless the connection is to close (``closing()``). In that case the
    /// content stays unread, and the server waits until the client closes the connection.
    public func early() -> MockResponse {
        changed { $0.faults.isEarly = true }
    }

    /// Returns a copy after which the server closes the connection, although the head does not announce this. The
    /// client is left with a connection that it can no longer use.
    public func closingSilently() -> MockResponse {
        changed { $0.faults.closesSilently = true }
    }

    /// A response that closes the connection in an orderly way without sending a byte, like a server that closes an
    /// idle connection.
    public static var closeBeforeReply: MockResponse {
        MockResponse().interrupted(by: .close, at: .beforeHead)
    }

    /// Returns a response that consists of exactly these bytes. The server closes the connection after it.
    public static func raw(_ bytes: Data) -> MockResponse {
        MockResponse().changed { $0.faults.raw = bytes }
    }
}

/// The faults that a mock server injects into one response, such as delays, interruptions and wrong framing.
struct Faults: Sendable {
    var headDelay: Duration?
    var bodyDelay: Duration?
    var cut: Cut?
    var pace: Pace?
    var framing: MockResponse.Framing?
    var raw: Data?
    var closesSilently = false
    var isEarly = false

    struct Cut: Sendable {
        let stage: MockResponse.Stage
        let interruption: MockResponse.Interruption
    }

    struct Pace: Sendable {
        let bytes: Int
        let pause: Duration
        let includesHead: Bool
    }

    /// The number of content bytes to send before the interruption; `nil` if no interruption is set at a number of
    /// bytes.
    var contentLimit: Int? {
        if case .afterBytes(let count) = cut?.stage { return max(0, count) }
        return nil
    }

    var descriptions: [String] {
        var all: [String] = []
        if isEarly { all.append("early") }
        if let headDelay { all.append("head delayed by \(headDelay)") }
        if let bodyDelay { all.append("body delayed by \(bodyDelay)") }
        if let pace { all.append("\(pace.bytes) bytes every \(pace.pause)") }
        if let framing { all.append("framed as \(framing)") }
        if let cut { all.append("\(cut.interruption) at \(cut.stage)") }
        if raw != nil { all.append("raw bytes") }
        if closesSilently { all.append("closing silently") }
        return all
    }
}
