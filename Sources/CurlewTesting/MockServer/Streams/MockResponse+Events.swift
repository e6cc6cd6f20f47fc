// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension MockResponse {
    /// Returns an event stream (WHATWG HTML §9.2) that executes these steps:
    ///
    ///     server.on(.get, "/news", respond: .events([.event("one", id: "1"), .interruption(.reset)]))
    ///
    /// The stream is sent in chunks, each step as one. The faults of other responses apply as well: `framed(as:
    /// .untilClose)` ends it by the end of the connection, `reset(at: .afterBytes(100))` cuts it at any byte, and
    /// `dripping` sends it slowly. After a complete stream in chunks, the connection stays open for the next request.
    public static func events(_ steps: [MockEventStep]) -> MockResponse {
        events(MockEventScript(steps))
    }

    /// Returns an event stream that `script` writes; see `events(_:)` and ``MockEventStream``.
    ///
    /// The script begins after the head has been sent, in a task of its own. The stream ends when the script returns.
    /// If the script throws, the connection is closed without the last chunk. The task is cancelled when the client
    /// closes the connection or the server stops.
    public static func events(_ script: @escaping @Sendable (MockEventStream) async throws -> Void) -> MockResponse {
        events(MockEventScript(script))
    }

    private static func events(_ script: MockEventScript) -> MockResponse {
        var response = MockResponse(
            headers: [.contentType: MediaType.eventStream.description, .cacheControl: "no-store"], body: .chunks([]))
        response.eventScript = script
        return response
    }
}

extension MockReply {
    /// Sends the content that a script writes. Returns false when the connection is to be closed.
    mutating func sendEvents(_ script: MockEventScript, _ plan: MockReplyPlan, pace: Faults.Pace?) -> Bool {
        guard flush(), let channel = try? MockChannel() else { return false }
        let task = script.start(on: channel.output)
        defer {
            channel.output.close()
            task.cancel()
        }
        while hasContentLeft {
            switch channel.next(on: socket, core.stopSignal) {
            case .bytes(let bytes):
                guard sendPieces(of: bytes, plan, pace), flush() else { return false }
                channel.output.hasSent()
            case .ended(.complete):
                sendEnd(plan)
                return flush()
            case .ended(.interrupted(let interruption)): return end(interruption)
            case .ended(.failed): return end(.close)
            case .gone: return false
            }
        }
        return true
    }
}
