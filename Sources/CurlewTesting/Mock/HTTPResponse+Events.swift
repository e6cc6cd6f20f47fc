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
    private let pipe: EventPipe
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ clock: any TimeSource) {
        pipe = EventPipe(clock)
    }

    deinit { cancel() }

    func begin(_ script: MockEventScript) {
        let started = script.start(on: pipe)
        task.withLock { $0 = started }
    }

    func next() async throws -> Data? { try await pipe.next() }

    func cancel() {
        pipe.close()
        task.withLock { $0 }?.cancel()
    }
}

/// The part of an event stream that its script refers to, so that the script does not keep the body alive.
private final class EventPipe: MockEventOutput {
    private struct State: Sendable {
        var chunks: [Data] = []
        var ending: MockEventScript.Ending?
        var isClosed = false
    }

    private let state = Monitor(State())
    private let clock: any TimeSource

    init(_ clock: any TimeSource) {
        self.clock = clock
    }

    private static let lost = NetworkError(
        .connectionLost(.requestMayHaveArrived), detail: "The mock has ended the connection.")

    func write(_ bytes: Data) async throws(NetworkError) {
        let isOpen = state.withLock { state in
            guard state.ending == nil, !state.isClosed else { return false }
            if !bytes.isEmpty { state.chunks.append(bytes) }
            return true
        }
        guard isOpen else { throw Self.lost }
        let isClosed = await state.wait { $0.chunks.isEmpty || $0.isClosed ? $0.isClosed : nil }
        guard let isClosed else { throw NetworkError(.cancelled) }
        if isClosed { throw Self.lost }
    }

    func pause(_ duration: Duration) async throws(NetworkError) {
        // The task of the script is cancelled when the client closes the connection.
        do { try await clock.sleep(for: duration) } catch { throw NetworkError(error) }
        if state.withLock({ $0.isClosed || $0.ending != nil }) { throw Self.lost }
    }

    func end(_ ending: MockEventScript.Ending) {
        state.withLock { state in
            if state.ending == nil { state.ending = ending }
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.chunks = []
        }
    }

    func next() async throws -> Data? {
        let result = await state.wait { state -> Result<Data?, any Error>? in
            if !state.chunks.isEmpty { return .success(state.chunks.removeFirst()) }
            if state.isClosed { return .failure(NetworkError(.cancelled)) }
            return switch state.ending {
            case nil, .interrupted(.stall): nil
            case .failed(let error): .failure(error)
            case .interrupted: .failure(Self.lost)
            case .complete: .success(nil)
            }
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }
}
