// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sessions of URLSession and the queue of their delegates, on which everything about their tasks happens.
///
/// Tasks are made, suspended, resumed and cancelled on the delegate's queue only. On Linux `cancel()` waits for the
/// session's own queue: called from a cancellation handler it can stop every session of the process, and called while
/// the task's end is being told it traps. On the delegate's queue, where that end is told, neither can happen.
final class SessionEngine: Sendable {
    private enum Sessions: Sendable {
        /// One for all tasks, which share its connections.
        case shared(URLSession, SessionDelegate)
        /// One for each task, invalidated when the task ends, so that no task meets a connection of another.
        case single(URLSessionConfiguration, HostSlots)
    }

    private let sessions: Sessions
    private let queue: OperationQueue
    private let isReady: Bool
    private let isInvalidated = Locked(false)
    /// Everything ends now: who waits for a slot does not begin when those before it end.
    private let isEnding = Locked(false)

    /// A session of its own, in which `policy` answers questions about certificates and credentials.
    init(_ configuration: URLSessionConfiguration, _ policy: (any ChallengePolicy)? = nil) {
        queue = Self.makeQueue()
        let delegate = SessionDelegate(policy)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        sessions = .shared(session, delegate)
        isReady = false
    }

    #if canImport(Darwin)
    /// A session that exists: its tasks get a delegate each.
    init(_ session: URLSession, _ policy: any ChallengePolicy) {
        queue = session.delegateQueue
        sessions = .shared(session, SessionDelegate(policy))
        isReady = true
    }
    #endif

    /// A session for each task, and at most `pool.perHost` of them for one origin at a time; further tasks wait.
    ///
    /// libcurl sends a request again, unasked, when a connection that was used before ends without a response. It keeps
    /// connections for each session, so the connection of a session's only task is always a new one. Nothing else makes
    /// sure of that: `Connection: close` does not keep libcurl from a connection that it has.
    init(singleUse configuration: URLSessionConfiguration, _ pool: ConnectionPool) {
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

    /// Starts a task for `bridge`, unless it has ended by now; where slots are limited, when it has one.
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
                    detail: "As many requests as ConnectionPool.waitingPerHost allows wait for \(origin) already.",
                    hint: "Start fewer calls at a time."))
            return bridge.endUnstarted()
        }
        // What ends while it waits has no task whose end would be told.
        bridge.whenEnded { if slots.abandon(bridge) { bridge.endUnstarted() } }
    }

    private func launch(_ bridge: TaskBridge, _ message: URLRequest, _ upload: UploadPlan) {
        queue.addOperation { [self] in
            // A session that was invalidated traps.
            if isInvalidated.withLock({ $0 }) || isEnding.withLock({ $0 }) { bridge.fail(SystemFailure.shutdown) }
            guard !bridge.isEnded else { return bridge.endUnstarted() }
            switch sessions {
            case .shared(let session, let delegate):
                run(bridge, message, upload, session, delegate)
            case .single(let configuration, _):
                let delegate = SessionDelegate()
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
                run(bridge, message, upload, session, delegate)
                // The task keeps the session; when it has ended, nothing does.
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

    /// `bridge` is over, for URLSession too: its slot is free.
    func finished(_ bridge: TaskBridge) {
        if case .single(_, let slots) = sessions { slots.leave(bridge) }
    }

    /// Does with the task of `bridge` what its machine wants by now.
    func control(_ bridge: TaskBridge) {
        let work = BlockOperation {
            guard let (task, order) = bridge.nextOrder() else { return }
            switch order {
            case .suspend: task.suspend()
            case .resume: task.resume()
            case .cancel: task.cancel()
            }
        }
        // Before the pieces of a body that wait in the queue and that nobody wants any more.
        work.queuePriority = .veryHigh
        queue.addOperation(work)
    }

    /// Begins nothing any more.
    func end() {
        isEnding.withLock { $0 = true }
    }

    /// Closes the sessions when their tasks have ended. A session that was given is its owner's.
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

extension RequestPriority {
    /// Between 0 and 1.
    fileprivate var forURLSession: Float {
        switch self {
        case .low: URLSessionTask.lowPriority
        case .high: URLSessionTask.highPriority
        default: URLSessionTask.defaultPriority
        }
    }
}
