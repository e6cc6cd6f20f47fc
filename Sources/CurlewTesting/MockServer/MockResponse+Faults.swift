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
        /// After the head.
        case afterHead
        /// After this much of the content, or all of it if it is shorter; 0 is right behind the head.
        case afterBytes(Int)

        /// As ``beforeHead``.
        public static var head: Stage { .beforeHead }
    }

    /// Which part a delay comes before.
    public enum DelayPoint: Hashable, Sendable {
        /// Before the final head.
        case head
        /// Between the head and the content.
        case body
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

    /// Stops sending there and holds the connection until the client goes away or the server stops.
    public func stalled(at stage: Stage) -> MockResponse {
        changed { $0.faults.cut = Faults.Cut(stage: stage, ending: .stall) }
    }

    /// Breaks the connection there with a TCP reset. What was sent just before it may be lost with it.
    public func reset(at stage: Stage) -> MockResponse {
        changed { $0.faults.cut = Faults.Cut(stage: stage, ending: .reset) }
    }

    /// Declares the whole content, sends this many bytes of it and closes in an orderly way.
    public func truncated(after bytes: Int) -> MockResponse {
        changed { $0.faults.cut = Faults.Cut(stage: .afterBytes(bytes), ending: .close) }
    }

    /// Sends the content in pieces of this size with a pause after each.
    public func dripping(bytesPerChunk: Int, every pause: Duration) -> MockResponse {
        changed { $0.faults.pace = Faults.Pace(bytes: max(1, bytesPerChunk), pause: pause) }
    }

    /// Closes after the response although its head does not say so: the client finds a stale connection.
    public func closingSilently() -> MockResponse {
        changed { $0.faults.closesSilently = true }
    }

    /// Closes in an orderly way without a byte, as a server does that times out an idle connection.
    public static var closeBeforeReply: MockResponse {
        MockResponse().changed { $0.faults.cut = Faults.Cut(stage: .beforeHead, ending: .close) }
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

/// What should go wrong with a response.
struct Faults: Sendable {
    var headDelay: Duration?
    var bodyDelay: Duration?
    var cut: Cut?
    var pace: Pace?
    var raw: Data?
    var closesSilently = false

    struct Cut: Sendable {
        let stage: MockResponse.Stage
        let ending: Ending
    }

    enum Ending: Sendable {
        case stall
        case reset
        case close
    }

    struct Pace: Sendable {
        let bytes: Int
        let pause: Duration
    }

    /// How many bytes of content go out before the cut, `nil` without one.
    var contentLimit: Int? {
        if case .afterBytes(let count) = cut?.stage { return max(0, count) }
        return nil
    }

    var descriptions: [String] {
        var all: [String] = []
        if let headDelay { all.append("head delayed by \(headDelay)") }
        if let bodyDelay { all.append("body delayed by \(bodyDelay)") }
        if let pace { all.append("\(pace.bytes) bytes every \(pace.pause)") }
        if let cut { all.append("\(cut.ending) at \(cut.stage)") }
        if raw != nil { all.append("raw bytes") }
        if closesSilently { all.append("closing silently") }
        return all
    }
}
