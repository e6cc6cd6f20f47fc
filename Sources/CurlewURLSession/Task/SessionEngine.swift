// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of URLSession and the queue of its delegate, on which everything about its tasks happens.
///
/// Tasks are made, suspended, resumed and cancelled on the delegate's queue only. On Linux `cancel()` waits for the
/// session's own queue: called from a cancellation handler it can stop every session of the process, and called while
/// the task's end is being told it traps. On the delegate's queue, where that end is told, neither can happen.
final class SessionEngine: Sendable {
    let session: URLSession
    private let delegate: SessionDelegate
    private let queue: OperationQueue
    private let isReady: Bool
    private let isInvalidated = Locked(false)

    /// A session of its own.
    init(_ configuration: URLSessionConfiguration) {
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "curlew.urlsession"
        delegate = SessionDelegate()
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        isReady = false
    }

    #if canImport(Darwin)
    /// A session that exists: its tasks get a delegate each.
    init(_ session: URLSession) {
        self.session = session
        queue = session.delegateQueue
        delegate = SessionDelegate()
        isReady = true
    }
    #endif

    /// What to ask about certificates.
    func trust(with policy: any ChallengePolicy) {
        delegate.policy.withLock { $0 = policy }
    }

    /// Starts a task for `bridge`, unless it has ended by now.
    func start(_ bridge: TaskBridge, _ message: URLRequest, _ upload: UploadPlan) {
        queue.addOperation { [self] in
            // A session that was invalidated traps.
            if isInvalidated.withLock({ $0 }) { bridge.fail(SystemFailure.shutdown) }
            guard !bridge.isEnded else { return bridge.endUnstarted() }
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
    }

    /// Does with the task of `bridge` what its machine wants by now.
    func control(_ bridge: TaskBridge) {
        let work = BlockOperation {
            let wishes = bridge.wishes
            guard let task = wishes.task else { return }
            if wishes.end { return task.cancel() }
            #if canImport(Darwin)
            if wishes.suspension, task.state == .running { task.suspend() }
            if !wishes.suspension, task.state == .suspended { task.resume() }
            #endif
        }
        // Before the pieces of a body that wait in the queue and that nobody wants any more.
        work.queuePriority = .veryHigh
        queue.addOperation(work)
    }

    /// Closes the session when its tasks have ended. A session that was given is its owner's.
    func invalidate() {
        guard !isReady else { return }
        queue.addOperation { [self] in
            let isFirst = isInvalidated.withLock { isInvalidated in
                defer { isInvalidated = true }
                return !isInvalidated
            }
            if isFirst { session.finishTasksAndInvalidate() }
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
