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
    ///
    /// - `gzip`: whether the content is coded with gzip, whatever the client accepts. Each step can be decoded when it
    ///   has arrived. Numbers of bytes then refer to the coded content. Default false.
    public static func events(_ steps: [MockEventStep], gzip: Bool = false) -> MockResponse {
        events(MockEventScript(steps), gzip)
    }

    /// Returns an event stream that `script` writes; see `events(_:gzip:)` and ``MockEventStream``.
    ///
    /// The script begins after the head has been sent, in a task of its own. The stream ends when it returns. If it
    /// throws, the connection is closed without the last chunk. The task is cancelled when the client closes the
    /// connection or the server stops.
    public static func events(
        gzip: Bool = false, _ script: @escaping @Sendable (MockEventStream) async throws -> Void
    ) -> MockResponse {
        events(MockEventScript(script), gzip)
    }

    private static func events(_ script: MockEventScript, _ isGzip: Bool) -> MockResponse {
        var response = MockResponse(
            headers: [.contentType: MediaType.eventStream.description, .cacheControl: "no-store"], body: .chunks([]))
        if isGzip { response.headers[.contentEncoding] = "gzip" }
        response.eventScript = script
        response.isGzip = isGzip
        return response
    }
}

extension MockReply {
    /// Sends the content that a script writes. Returns false when the connection is to be closed.
    mutating func sendEvents(_ script: MockEventScript, _ plan: MockReplyPlan, gzip: Bool, pace: Faults.Pace?) -> Bool {
        guard flush(), let channel = try? MockChannel() else { return false }
        let task = script.start(on: channel.output)
        defer {
            channel.output.close()
            task.cancel()
        }
        var coding = gzip ? try? GzipPieces() : nil
        while hasContentLeft {
            switch channel.next(on: socket, core.stopSignal) {
            case .bytes(let bytes):
                guard let piece = gzip ? try? coding?.add(bytes) : bytes else { return false }
                guard sendPieces(of: piece, plan, pace), flush() else { return false }
                channel.output.hasSent()
            case .ended(.complete):
                if let end = coding?.end(), !sendPieces(of: end, plan, pace) { return false }
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
