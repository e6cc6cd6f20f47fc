// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The URLSessions of a transport and their delegate queue, on which all task operations are performed.
///
/// Tasks are created, suspended, resumed and cancelled only on the delegate's queue. On Linux `cancel()` waits for the
/// session's internal queue: called from a cancellation handler it can block every session of the process, and called
/// while the task's end is being reported it traps. On the delegate's queue, where that end is reported, neither can
/// happen.
final class SessionEngine: Sendable {
    private enum Sessions: Sendable {
        /// A single session for all tasks, which share its connections.
        case shared(URLSession, SessionDelegate)
        /// A session for each task, invalidated when the task ends, so that tasks do not share connections.
        case single(URLSessionConfiguration, HostSlots)
    }

    private let sessions: Sessions
    private let queue: OperationQueue
    private let isReady: Bool
    private let isInvalidated = Locked(false)
    /// Whether the engine is ending: waiting exchanges do not start when those before them end.
    private let isEnding = Locked(false)

    /// Creates an engine with its own session. `policy` responds to challenges.
    init(_ configuration: URLSessionConfiguration, _ policy: (any ChallengePolicy)? = nil) {
        queue = Self.makeQueue()
        let delegate = SessionDelegate(policy)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        sessions = .shared(session, delegate)
        isReady = false
    }

    #if canImport(Darwin)
    /// Creates an engine for an existing session. Each of its tasks gets its own delegate.
    init(_ session: URLSession, _ policy: any ChallengePolicy) {
        queue = session.delegateQueue
        sessions = .shared(session, SessionDelegate(policy))
        isReady = true
    }
    #endif

    /// Creates an engine with a session for each task, of which at most `pool.perHost` run at a time for one origin.
    /// Further tasks wait.
    ///
    /// libcurl automatically sends a request again if a reused connection ends without a response. It keeps connections
    /// per session, so the connection of a session's only task is always new. There is no other way to ensure this:
    /// `Connection: close` does not prevent libcurl from using an existing connection.
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

    /// Starts a task for `bridge`, unless it has ended. If slots are limited, waits for one.
    func start(_ bridge: TaskBridge, _ message: URLRequest, _ upload: UploadPlan) {
        guard case .single(_, let slots) = sessions else { return launch(bridge, message, upload) }
        let origin = bridge.request.origin
        let isIn = slots.enter(bridge, origin: origin, bridge.context.options.priority) { [self] in
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
        // An exchange that ends while it waits has no task whose end would be reported.
        bridge.whenEnded { if slots.abandon(bridge) { bridge.endUnstarted() } }
    }

    private func launch(_ bridge: TaskBridge, _ message: URLRequest, _ upload: UploadPlan) {
        queue.addOperation { [self] in
            // An invalidated session traps.
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
        let task: URLSessionTask
        switch upload.source {
        case .none: task = session.dataTask(with: message)
        case .data(let data): task = session.uploadTask(with: message, from: data)
        case .file(let path): task = session.uploadTask(with: message, fromFile: URL(fileURLWithPath: path))
        case .stream: task = session.uploadTask(withStreamedRequest: message)
        }
        if let priority = bridge.context.options.priority { task.priority = priority.forURLSession }
        #if canImport(Darwin)
        if isReady { task.delegate = delegate }
        #endif
        bridge.adopt(task, upload)
        delegate.add(bridge, for: task, upload)
        task.resume()
    }

    /// Releases the slot of `bridge`, which URLSession has also finished.
    func finished(_ bridge: TaskBridge) {
        if case .single(_, let slots) = sessions { slots.leave(bridge) }
    }

    /// Performs the next operation that `bridge` wants for its task.
    func control(_ bridge: TaskBridge) {
        let work = BlockOperation {
            guard let (task, order) = bridge.nextOrder() else { return }
            switch order {
            case .suspend: task.suspend()
            case .resume: task.resume()
            case .cancel: task.cancel()
            }
        }
        // Runs before queued pieces of a body that are no longer needed.
        work.queuePriority = .veryHigh
        queue.addOperation(work)
    }

    /// Prevents waiting exchanges from starting.
    func end() {
        isEnding.withLock { $0 = true }
    }

    /// Invalidates the sessions when their tasks have ended. A session that was passed in is left to its owner.
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
    /// The priority as URLSession's value between 0 and 1.
    fileprivate var forURLSession: Float {
        switch self {
        case .low: URLSessionTask.lowPriority
        case .high: URLSessionTask.highPriority
        default: URLSessionTask.defaultPriority
        }
    }
}
