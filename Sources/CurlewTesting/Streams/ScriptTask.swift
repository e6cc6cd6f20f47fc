// SPDX-License-Identifier: MIT

import Dispatch

/// The task in which a mock runs a script.
enum ScriptTask {
    /// Starts the task. On systems that support it, the script runs on a queue of its own: it makes progress even if
    /// tests block all of Swift's cooperative threads.
    static func start(_ script: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return Task(executorPreference: ScriptExecutor()) { await script() }
        }
        return Task { await script() }
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class ScriptExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "curlew.mock.script")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
