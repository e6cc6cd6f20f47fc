// SPDX-License-Identifier: MIT

#if os(Linux)
/// Runs the steps of a task on the thread of an event loop.
///
/// For short steps that never block: they delay all transfers of the loop. A task that receives from the loop then needs
/// no other thread for each arrival.
final class EventLoopExecutor: TaskExecutor {
    private let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The transfer of the task has ended if the thread has. The task still has to end.
        if !loop.run(job, self) { globalConcurrentExecutor.enqueue(job) }
    }
}
#endif
