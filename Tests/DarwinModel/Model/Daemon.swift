// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CurlewCore
import Foundation

let NSURLErrorBackgroundTaskCancelledReasonKey = "NSURLErrorBackgroundTaskCancelledReasonKey"

/// The process of the system that performs the tasks of background sessions. It outlives the app, which a test ends and
/// starts again: tasks that end meanwhile are reported to the next session of their identifier.
enum DarwinDaemon {
    private struct Sessions {
        var tasks: [Int: URLSessionTask] = [:]
        var events: [@Sendable (URLSession) -> Void] = []
    }

    private static let state = Locked<[String: Sessions]>([:])

    static func keep(_ task: URLSessionTask, _ identifier: String) {
        state.withLock { $0[identifier, default: Sessions()].tasks[task.taskIdentifier] = task }
    }

    static func forget(_ task: URLSessionTask, _ identifier: String) {
        state.withLock { $0[identifier]?.tasks[task.taskIdentifier] = nil }
    }

    /// Whether there is something to report at the next launch.
    static func hasEvents(_ identifier: String) -> Bool { state.withLock { $0[identifier]?.events.isEmpty == false } }

    /// A session of the app: it gets the tasks of its identifier, and what it has missed.
    static func attach(_ session: URLSession) {
        guard let identifier = session.configuration.identifier else { return }
        let (tasks, events) = state.withLock { state in
            defer { state[identifier]?.events = [] }
            return (state[identifier]?.tasks ?? [:], state[identifier]?.events ?? [])
        }
        for task in tasks.values {
            task.state.withLock { $0.session = session }
            session.keep(task)
        }
        for event in events { event(session) }
        guard !events.isEmpty else { return }
        session.delegateQueue.addOperation {
            (session.delegate as? any URLSessionDownloadDelegate)?
                .urlSessionDidFinishEvents(forBackgroundURLSession: session)
        }
    }

    /// Ends the app: its sessions receive nothing more. With `byUser`, the tasks end too, and say so at the next launch
    /// (TUSKit#200: `getAllTasks` returns them, and they end with -999 and reason 0).
    static func endApp(_ identifier: String, byUser: Bool = false) {
        for task in state.withLock({ $0[identifier]?.tasks ?? [:] }).values {
            task.session.state.withLock { $0.delegate = nil }
            guard byUser else { continue }
            let info: [String: Any] = [NSURLErrorBackgroundTaskCancelledReasonKey: 0]
            task.end(URLError(.cancelled, userInfo: info))
            task.stop()
        }
    }

    /// Runs `work` with the delegate of the session that is there, or of the next one.
    static func whenAttached(
        _ task: URLSessionTask, _ work: @escaping @Sendable (any URLSessionTaskDelegate, URLSession) -> Void
    ) {
        task.deliver {
            let session = task.session
            if let delegate = session.delegate as? any URLSessionTaskDelegate { return work(delegate, session) }
            guard let identifier = session.configuration.identifier else { return }
            state.withLock { state in
                state[identifier, default: Sessions()].events.append { session in
                    session.delegateQueue.addOperation {
                        (session.delegate as? any URLSessionTaskDelegate).map { work($0, session) }
                    }
                }
            }
        }
    }

    /// A task that ends while the app is gone is reported at its next launch.
    static func ended(_ task: URLSessionTask, _ error: (any Error)?) {
        whenAttached(task) { delegate, session in
            delegate.urlSession(session, task: task, didCompleteWithError: error)
            session.forget(task)
        }
    }
}
