// SPDX-License-Identifier: MIT

#if os(Linux)
/// Runs the steps of a task on the thread of an event loop.
///
/// For short steps that never block: they delay all transfers of the loop. A task that receives from the loop then
/// needs no other thread for each arrival. After a step that took more than `longStep`, the steps run on the global
/// executor for `avoidance`.
final class EventLoopExecutor: TaskExecutor {
    /// Times in nanoseconds.
    static let (longStep, avoidance) = (Int64(10_000_000), Int64(1_000_000_000))

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

extension CurlTransport {
    /// An executor that runs the steps of tasks on the thread of the transport's first event loop.
    ///
    ///     try await withTaskExecutorPreference(transport.executor) {
    ///         for id in ids { try await client.send(.user(id: id)) }
    ///     }
    ///
    /// A call over plain HTTP/1.1 in such a task changes no thread if the first event loop serves the origin: if there
    /// is only one event loop, or if the first call to the origin came from this executor. The call then needs a sixth
    /// to a third less CPU. Use the executor only for tasks with short steps: a step delays all exchanges of the event
    /// loop. After a step of more than 10 ms, steps run on the global executor for a second. They also do so while the
    /// event loop has no thread, because the transport is idle, shut down or in a forked child.
    public var executor: any TaskExecutor { loops.executor }
}
#endif
