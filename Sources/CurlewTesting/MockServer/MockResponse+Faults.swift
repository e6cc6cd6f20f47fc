// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension MockResponse {
    /// Where a response is interrupted. Bytes count content, without chunk framing.
    public enum Stage: Hashable, Sendable {
        /// When the request begins to arrive; nothing of it is read or recorded. Works for enqueued responses only:
        /// a route has no say before the request is read, and takes it as ``beforeHead``.
        case beforeRequestRead
        /// After the request and the informational heads, before the final head.
        case beforeHead
        /// After half of the head's bytes.
        case insideHead
        /// After the head.
        case afterHead
        /// After this much of the content, or all of it if it is shorter; 0 is right behind the head.
        case afterBytes(Int)

        /// As ``beforeHead``.
        public static var head: Stage { .beforeHead }
    }

    /// What happens to the connection there.
    public enum Interruption: Hashable, Sendable, CaseIterable {
        /// It is closed in an orderly way: the client reads the end of the stream.
        case close
        /// The server ends its own direction only, and keeps the connection until the client goes away.
        case halfClose
        /// It breaks with a TCP reset. What was sent just before may be lost with it.
        case reset
        /// Nothing more is sent; the connection is held until the client goes away or the server stops.
        case stall
    }

    /// Which part a delay comes before.
    public enum DelayPoint: Hashable, Sendable {
        /// Before the final head.
        case head
        /// Between the head and the content.
        case body
    }

    /// The same up to the stage, and then the interruption.
    public func interrupted(by interruption: Interruption, at stage: Stage) -> MockResponse {
        changed { $0.faults.cut = Faults.Cut(stage: stage, interruption: interruption) }
    }

    /// Stops sending there and holds the connection until the client goes away or the server stops.
    public func stalled(at stage: Stage) -> MockResponse {
        interrupted(by: .stall, at: stage)
    }

    /// Breaks the connection there with a TCP reset. What was sent just before it may be lost with it.
    public func reset(at stage: Stage) -> MockResponse {
        interrupted(by: .reset, at: stage)
    }

    /// Declares the whole content, sends this many bytes of it and closes in an orderly way.
    public func truncated(after bytes: Int) -> MockResponse {
        interrupted(by: .close, at: .afterBytes(bytes))
    }

    /// The same after a pause. Ends early when the client goes away or the server stops.
    public func delayed(by delay: Duration, at point: DelayPoint = .head) -> MockResponse {
        changed { response in
            switch point {
            case .head: response.faults.headDelay = delay
            case .body: response.faults.bodyDelay = delay
            }
        }
    }

    /// Sends in pieces of this size with a pause after each: the content, or everything from the head on.
    public func dripping(
        bytesPerChunk: Int, every pause: Duration, from point: DelayPoint = .body
    ) -> MockResponse {
        changed {
            $0.faults.pace = Faults.Pace(bytes: max(1, bytesPerChunk), pause: pause, includesHead: point == .head)
        }
    }

    /// Sends the response when the head of its request has come, without waiting for the content. Works for enqueued
    /// responses only; the request is recorded without content.
    ///
    /// What is left of the content is read and dropped, unless the connection is to close (``closing()``): then it stays
    /// unread, and the server waits for the client to go away.
    public func early() -> MockResponse {
        changed { $0.faults.isEarly = true }
    }

    /// Closes after the response although its head does not say so: the client finds a stale connection.
    public func closingSilently() -> MockResponse {
        changed { $0.faults.closesSilently = true }
    }

    /// Closes in an orderly way without a byte, as a server does that times out an idle connection.
    public static var closeBeforeReply: MockResponse {
        MockResponse().interrupted(by: .close, at: .beforeHead)
    }

    /// These bytes instead of a response, then a close.
    public static func raw(_ bytes: Data) -> MockResponse {
        MockResponse().changed { $0.faults.raw = bytes }
    }

    /// This text instead of a head, then the content as it is, then a close. End it with an empty line if it should.
    public static func malformedHead(_ text: String, body: Data = Data()) -> MockResponse {
        raw(Data(text.utf8) + body)
    }
}
