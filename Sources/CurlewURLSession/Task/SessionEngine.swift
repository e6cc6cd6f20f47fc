// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The URLSessions of a transport and their delegate queue, on which all task operations are performed.
///
/// Tasks are created, suspended, resumed and cancelled only on the delegate queue. On Linux, `cancel()` waits for the
/// session's internal queue. If it is called from a cancellation handler, it can block every session of the process. If
/// it is called while the end of the task is being reported, it traps. Neither can happen on the delegate queue,
/// because ends are reported there.
final class SessionEngine: Sendable {
    private enum Sessions: Sendable {
        /// One session for all tasks. The tasks share its connections.
        case shared(URLSession, SessionDelegate)
        /// A session for each task, so that tasks do not share connections. It is invalidated when the task ends.
        case single(URLSessionConfiguration, HostSlots)
    }

    private let sessions: Sessions
    private let queue: OperationQueue
    private let isReady: Bool
    private let isInvalidated = Locked(false)
    /// Whether the transport is shutting down, so that waiting exchanges must not start when others end.
    private let isEnding = Locked(false)

    /// Creates an engine with one session for all tasks. `policy` responds to challenges.
    init(_ configuration: URLSessionConfiguration, _ policy: (any ChallengePolicy)? = nil) {
        queue = Self.makeQueue()
        let delegate = SessionDelegate(policy)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        sessions = .shared(session, delegate)
        isReady = false
    }

    #if canImport(Darwin)
    /// Creates an engine for an existing session. A `SessionDelegate` is the delegate of each of its tasks.
    init(_ session: URLSession, _ policy: any ChallengePolicy) {
        queue = session.delegateQueue
        sessions = .shared(session, SessionDelegate(policy))
        isReady = true
    }
    #endif

    /// Creates an engine with a new session for each task. At most `pool.perHost` tasks run at a time for one origin,
    /// and further tasks wait.
    ///
    /// If a reused connection ends without a response, libcurl automatically sends the request again. libcurl keeps
    /// connections for each session, so a session with a single task always uses a new connection. There is no other
    /// way to ensure this: `Connection: close` does not prevent libcurl from using an existing connection.
    init(singleUse configuration: URLSessionConfiguration, _ pool: TransportConfiguration.Pool) {
        queue = Self.makeQueue()
        let slots = HostSlots(perHost: max(1, pool.perHost), waitingPerHost: pool.waitingPerHost)
        sessions = .single(configuration, slots)
        isReady = false
    }

    private static func makeQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "curlew.urlsession"
        return queue
    }

    /// Starts the task of `bridge` on the delegate queue, unless the exchange has ended. If slots are limited, the task
    /// starts when a slot is free. If too many exchanges already wait, the exchange fails with the reason
    /// `.refused(by: .overload)`.
    func start(_ bridge: TaskBridge, _ message: URLRequest, _ upload: UploadPlan) {
        guard case .single(_, let slots) = sessions else { return launch(bridge, message, upload) }
        let origin = bridge.request.origin
        let isIn = slots.requestSlot(for: bridge, origin: origin, bridge.context.options.priority) { [self] in
            launch(bridge, message, upload)
        }
        guard isIn else {
            bridge.fail(
                NetworkError(
                    .refused(by: .overload),
                    detail: "\(origin) already has TransportConfiguration.Pool.waitingPerHost waiting requests.",
                    hint: "Start fewer concurrent calls."))
            return bridge.endUnstarted()
        }
        // An exchange that ends while it waits has no task that would report the end.
        bridge.whenEnded { if slots.abandon(bridge) { bridge.endUnstarted() } }
    }

    private func launch(_ bridge: TaskBridge, _ message: URLRequest, _ upload: UploadPlan) {
        queue.addOperation { [self] in
            // Creating a task in an invalidated session traps.
            if isInvalidated.withLock({ $0 }) || isEnding.withLock({ $0 }) { bridge.fail(SystemFailure.shutdown) }
            guard !bridge.isEnded else { return bridge.endUnstarted() }
            switch sessions {
            case .shared(let session, let delegate):
                run(bridge, message, upload, session, delegate)
            case .single(let configuration, _):
                let delegate = SessionDelegate()
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
                run(bridge, message, upload, session, delegate)
                // The task retains the session until it ends.
                session.finishTasksAndInvalidate()
            }
        }
    }

    private func run(
        _ bridge: TaskBridge, _ message: URLRequest, _ upload: UploadPlan, _ session: URLSession,
        _ delegate: SessionDelegate
    ) {
        #if canImport(Darwin)
        // Upload tasks would add fields of their own, and resume a broken upload by themselves.
        var message = message
        if case .data(let data) = upload.source { message.httpBody = data }
        if let stream = upload.openStream({ bridge.fail($0) }) {
            message.httpBodyStream = stream.input
            stream.feed.map(bridge.feeds.adopt)
        }
        let task = session.dataTask(with: message)
        #else
        let task: URLSessionTask
        switch upload.source {
        case .none: task = session.dataTask(with: message)
        case .data(let data): task = session.uploadTask(with: message, from: data)
        case .file(let path): task = session.uploadTask(with: message, fromFile: URL(fileURLWithPath: path))
        case .stream: task = session.uploadTask(withStreamedRequest: message)
        }
        #endif
        if let priority = bridge.context.options.priority { task.priority = priority.forURLSession }
        #if canImport(Darwin)
        if isReady { task.delegate = delegate }
        #endif
        bridge.adopt(task, upload)
        delegate.add(bridge, for: task)
        task.resume()
    }

    #if canImport(Darwin)
    /// Starts the task of `socket` on the delegate queue, unless the exchange has ended.
    func start(_ socket: SocketBridge, _ message: URLRequest) {
        queue.addOperation { [self] in
            // Creating a task in an invalidated session traps.
            if isInvalidated.withLock({ $0 }) || isEnding.withLock({ $0 }) { socket.fail(SystemFailure.shutdown) }
            guard !socket.isOver, case .shared(let session, let delegate) = sessions else {
                return socket.endUnstarted()
            }
            let task = session.webSocketTask(with: message)
            if let priority = socket.context.options.priority { task.priority = priority.forURLSession }
            if isReady { task.delegate = delegate }
            delegate.add(socket, for: task)
            socket.adopt(AppleSocketTask(task, messageLimit: socket.messageLimit))
            task.resume()
        }
    }
    #endif

    /// Releases the slot of `bridge` after URLSession has finished its task.
    func finished(_ bridge: TaskBridge) {
        if case .single(_, let slots) = sessions { slots.releaseSlot(of: bridge) }
    }

    /// Performs the next operation on the task of `bridge`, on the delegate queue: suspend, resume or cancel. Does not
    /// wait for it.
    func control(_ bridge: TaskBridge) {
        let work = BlockOperation {
            guard let (task, order) = bridge.nextOrder() else { return }
            switch order {
            case .suspend: task.suspend()
            case .resume: task.resume()
            case .cancel: task.cancel()
            }
        }
        // The operation runs before queued pieces of a body that is no longer needed.
        work.queuePriority = .veryHigh
        queue.addOperation(work)
    }

    /// Prevents waiting exchanges from starting, because the transport is shutting down.
    func end() {
        isEnding.withLock { $0 = true }
    }

    /// Invalidates the session when its tasks have ended. A session that the app passed in is not invalidated.
    func invalidate() {
        guard !isReady else { return }
        queue.addOperation { [self] in
            let isFirst = isInvalidated.withLock { isInvalidated in
                defer { isInvalidated = true }
                return !isInvalidated
            }
            if isFirst, case .shared(let session, _) = sessions { session.finishTasksAndInvalidate() }
        }
    }
}

extension RequestOptions.Priority {
    /// The priority as a value of URLSession, between 0 and 1.
    fileprivate var forURLSession: Float {
        switch self {
        case .low: URLSessionTask.lowPriority
        case .high: URLSessionTask.highPriority
        default: URLSessionTask.defaultPriority
        }
    }
}
