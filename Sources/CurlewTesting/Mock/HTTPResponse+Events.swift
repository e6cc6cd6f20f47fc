// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension HTTPResponse {
    /// Returns an event stream (WHATWG HTML §9.2) that executes these steps, without sockets:
    ///
    ///     mock.on(.get, "/news") { _ in .events([.event("one", id: "1"), .interruption(.reset)]) }
    ///
    /// The body ends after the last step. After an interruption it throws `.connectionLost`, or ends no more if the
    /// interruption is `.stall`.
    ///
    /// - `clock`: the clock of the pauses. Default real time.
    public static func events(
        _ steps: [MockEventStep], on clock: any TimeSource = SystemTime()
    ) -> HTTPResponse {
        events(MockEventScript(steps), on: clock)
    }

    /// Returns an event stream that `script` writes, without sockets. The script begins when the response is created,
    /// and waits until the client has read what it has written. The body ends when the script returns, and throws its
    /// error when it throws. Releasing or cancelling the body ends the script's writing with an error.
    ///
    /// - `clock`: the clock of the pauses. Default real time.
    public static func events(
        on clock: any TimeSource = SystemTime(), _ script: @escaping @Sendable (MockEventStream) async throws -> Void
    ) -> HTTPResponse {
        events(MockEventScript(script), on: clock)
    }

    /// Returns an event stream that runs a script.
    package static func events(_ script: MockEventScript, on clock: any TimeSource = SystemTime()) -> HTTPResponse {
        let source = MemoryEvents(clock)
        source.begin(script)
        return HTTPResponse(
            headers: [.contentType: MediaType.eventStream.description, .cacheControl: "no-store"],
            body: ResponseBody(source, limit: .max, length: nil))
    }
}

/// The bytes of an event stream without sockets.
private final class MemoryEvents: ResponseBodySource {
    /// The output of the script, which refers to it instead of the body, so that it does not keep the body alive.
    private let output: ScriptOutput
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ clock: any TimeSource) {
        output = ScriptOutput(on: clock)
    }

    deinit { cancel() }

    func begin(_ script: MockEventScript) {
        let started = script.start(on: output)
        task.withLock { $0 = started }
    }

    func next() async throws -> Data? { try await output.next() }

    func cancel() {
        output.close()
        task.withLock { $0 }?.cancel()
    }
}
