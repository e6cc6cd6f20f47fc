// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension MockResponse {
    /// The point at which a response is interrupted. Byte counts refer to the content, without chunk framing.
    public enum Stage: Hashable, Sendable {
        /// When the request begins to arrive; none of it is read or recorded. Applies to enqueued responses only: a
        /// route is selected after the request has been read, and treats it as ``beforeHead``.
        case beforeRequestRead
        /// After the request and the informational heads, before the final head.
        case beforeHead
        /// After half of the head's bytes.
        case insideHead
        /// After the head.
        case afterHead
        /// After this number of content bytes, or after all of them if there are fewer; 0 is directly after the head.
        case afterBytes(Int)

        /// The same as ``beforeHead``.
        public static var head: Stage { .beforeHead }
    }

    /// How the connection is interrupted.
    public enum Interruption: Hashable, Sendable, CaseIterable {
        /// The connection is closed in an orderly way: the client reads the end of the stream.
        case close
        /// The server closes its sending side only, and keeps the connection until the client closes it.
        case halfClose
        /// The connection is reset (TCP RST). Bytes sent just before may be lost.
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

    /// Returns a copy that is sent up to the stage and then interrupted.
    public func interrupted(by interruption: Interruption, at stage: Stage) -> MockResponse {
        changed { $0.faults.cut = Faults.Cut(stage: stage, interruption: interruption) }
    }

    /// Returns a copy that stops at the stage and keeps the connection open until the client closes it or the server
    /// stops.
    public func stalled(at stage: Stage) -> MockResponse {
        interrupted(by: .stall, at: stage)
    }

    /// Returns a copy that resets the connection (TCP RST) at the stage. Bytes sent just before may be lost.
    public func reset(at stage: Stage) -> MockResponse {
        interrupted(by: .reset, at: stage)
    }

    /// Returns a copy that declares the whole content, sends only this number of bytes, and closes in an orderly way.
    public func truncated(after bytes: Int) -> MockResponse {
        interrupted(by: .close, at: .afterBytes(bytes))
    }

    /// Returns a copy that is sent after a delay. The delay ends early when the client closes the connection or the
    /// server stops.
    public func delayed(by delay: Duration, at point: DelayPoint = .head) -> MockResponse {
        changed { response in
            switch point {
            case .head: response.faults.headDelay = delay
            case .body: response.faults.bodyDelay = delay
            }
        }
    }

    /// Returns a copy that is sent in pieces of this size with a pause after each: the content, or everything from the
    /// head on.
    public func dripping(
        bytesPerChunk: Int, every pause: Duration, from point: DelayPoint = .body
    ) -> MockResponse {
        changed {
            $0.faults.pace = Faults.Pace(bytes: max(1, bytesPerChunk), pause: pause, includesHead: point == .head)
        }
    }

    /// Returns a copy that is sent when the head of its request has arrived, without waiting for the content. Applies
    /// to enqueued responses only; the request is recorded without content.
    ///
    /// The rest of the content is read and discarded, unless the connection is to close (``closing()``): then it stays
    /// unread, and the server waits until the client closes the connection.
    public func early() -> MockResponse {
        changed { $0.faults.isEarly = true }
    }

    /// Returns a copy after which the connection is closed although the head does not announce it, so that the client
    /// keeps a stale connection.
    public func closingSilently() -> MockResponse {
        changed { $0.faults.closesSilently = true }
    }

    /// Closes the connection in an orderly way without sending a byte, as a server does that times out an idle
    /// connection.
    public static var closeBeforeReply: MockResponse {
        MockResponse().interrupted(by: .close, at: .beforeHead)
    }

    /// Sends these bytes instead of a response, then closes the connection.
    public static func raw(_ bytes: Data) -> MockResponse {
        MockResponse().changed { $0.faults.raw = bytes }
    }

    /// Sends this text instead of a head, then the content as it is, then closes the connection. The text has to
    /// include the empty line that ends a head, if there is to be one.
    public static func malformedHead(_ text: String, body: Data = Data()) -> MockResponse {
        raw(Data(text.utf8) + body)
    }
}
