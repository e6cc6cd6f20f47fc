// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A task of the model. It begins suspended, reports to its delegate or that of its session, on the session's queue,
/// and nothing after its end.
@dynamicMemberLookup
class URLSessionTask: NSObject, @unchecked Sendable {
    enum Content: Sendable { case none, data(Data), file(String), stream }

    struct State {
        var response: URLResponse?
        var taskDescription: String?
        var priority: Float = 0.5
        var delegate: (any URLSessionTaskDelegate)?
        var session: URLSession
        var suspensions = 1
        var runner: Task<Void, Never>?
        var isOver = false
        /// Whether the end was reported.
        var isReported = false
        /// The stream of the body that is being sent, which the system closes at the end.
        var input: InputStream?
        /// Whether the stream of the request was used, so that the delegate is asked for the next.
        var hasStreamed = false
        var metrics = ExchangeMetrics()
        var start = Date()
        var sent: Int64 = 0
        var received: Int64 = 0
        /// Where the server keeps a part of the upload (104 of the draft).
        var partial: String?
        var maximumMessageSize = 1 << 20
        var closeCode = URLSessionWebSocketTask.CloseCode(0)
        var closeReason: Data?
    }

    static let lowPriority: Float = 0.25
    static let defaultPriority: Float = 0.5
    static let highPriority: Float = 0.75

    let taskIdentifier: Int
    let originalRequest: URLRequest?
    let content: Content
    let state: Monitor<State>

    init(_ session: URLSession, _ request: URLRequest, _ content: Content) {
        (taskIdentifier, originalRequest, self.content) = (session.nextIdentifier(), request, content)
        state = Monitor(State(session: session))
        super.init()
        session.keep(self)
    }

    var session: URLSession { state.withLock { $0.session } }

    subscript<Value: Sendable>(dynamicMember path: any WritableKeyPath<State, Value> & Sendable) -> Value {
        get { state.withLock { $0[keyPath: path] } }
        set { state.withLock { $0[keyPath: path] = newValue } }
    }

    func suspend() { state.withLock { $0.suspensions += 1 } }

    func resume() {
        state.withLock { state in
            state.suspensions = max(0, state.suspensions - 1)
            guard state.suspensions == 0, state.runner == nil, !state.isOver else { return }
            state.start = Date()
            state.runner = Task { await self.run() }
        }
    }

    func cancel() {
        stop()
        end(URLError(.cancelled))
    }

    /// Stops the work of the task. Handlers of its cancellation use the state.
    func stop() { state.withLock { $0.runner }?.cancel() }

    func run() async {
        do {
            if let code = session.behaviour.endsAllTasks.withLock({ $0 }) { throw URLError(code) }
            try await waitForNetwork()
            try await perform()
            end(nil)
        } catch {
            end(Task.isCancelled ? URLError(.cancelled) : SystemError.of(error))
        }
    }

    /// What a kind of task does; it throws the error of its end.
    func perform() async throws {}

    private func waitForNetwork() async throws {
        let network = session.behaviour.network
        if network.withLock({ $0 }) { return }
        guard session.configuration.waitsForConnectivity else { throw URLError(.notConnectedToInternet) }
        tell { $0.urlSession($1, taskIsWaitingForConnectivity: self) }
        _ = await network.wait { $0 ? () : nil }
    }

    /// Ends the task, unless it has ended: metrics and the end are the last that the delegate receives.
    func end(_ error: (any Error)?) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        deliver { [self] in
            let (session, delegate, metrics) = state.withLock { state in
                state.isReported = true
                state.input?.close()
                state.input = nil
                let interval = DateInterval(start: state.start, end: Date())
                let transaction = URLSessionTaskTransactionMetrics(
                    originalRequest ?? URLRequest(url: URL(fileURLWithPath: "/")), state.metrics, state.start,
                    sent: state.sent, received: state.received)
                return (
                    state.session, state.delegate ?? state.session.delegate as? any URLSessionTaskDelegate,
                    URLSessionTaskMetrics([transaction], interval)
                )
            }
            guard let delegate else { return DarwinDaemon.ended(self, error) }
            (delegate as? SessionDelegate)?.urlSession(session, task: self, didFinishCollecting: metrics)
            delegate.urlSession(session, task: self, didCompleteWithError: error)
            session.forget(self)
        }
    }

    func deliver(_ work: @escaping @Sendable () -> Void) { session.delegateQueue.addOperation(work) }

    private var recipient: (any URLSessionTaskDelegate)? {
        state.withLock { $0.isReported ? nil : $0.delegate ?? $0.session.delegate as? any URLSessionTaskDelegate }
    }

    /// Reports an event, unless the end was reported.
    func tell(_ work: @escaping @Sendable (SessionDelegate, URLSession) -> Void) {
        deliver { [self] in (recipient as? SessionDelegate).map { work($0, session) } }
    }

    /// Asks the delegate. Nil if there is none with this method, or if the end was reported.
    func ask<Delegate, Answer: Sendable>(
        _ work: @escaping @Sendable (Delegate, URLSession, @escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer? {
        await withCheckedContinuation { continuation in
            deliver { [self] in
                guard let delegate = recipient as? Delegate else { return continuation.resume(returning: nil) }
                work(delegate, session) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Reports a piece of the body and waits until the delegate has it, so that memory is bounded.
    func report(_ data: Data) async {
        let _: Void? = await ask { (delegate: any URLSessionDataDelegate, session, reply) in
            if let task = self as? URLSessionDataTask { delegate.urlSession(session, dataTask: task, didReceive: data) }
            reply(())
        }
    }

    func untilRunning() async { _ = await state.wait { $0.suspensions == 0 ? () : nil } }
}

class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
    override func perform() async throws { try await exchange() }
}

final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString).download")
    private let data = Locked(Data())

    override func perform() async throws {
        try await exchange()
        try data.withLock { try $0.write(to: file) }
        defer { try? FileManager.default.removeItem(at: file) }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DarwinDaemon.whenAttached(self) { [self] delegate, session in
                (delegate as? any URLSessionDownloadDelegate)?
                    .urlSession(session, downloadTask: self, didFinishDownloadingTo: file)
                continuation.resume()
            }
        }
    }

    override func report(_ data: Data) async { self.data.withLock { $0 += data } }
}
