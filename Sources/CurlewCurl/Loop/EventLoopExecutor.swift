// SPDX-License-Identifier: MIT

#if os(Linux)
/// Runs the steps of a task on the thread of an event loop.
///
/// For short steps that never block: they delay all transfers of the loop. A task that receives from the loop then needs
/// no other thread for each arrival. After a step that took more than `longStep`, the steps run on the global executor
/// for `avoidance`.
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
    /// A call from there over plain HTTP/1.1 changes no thread if its origin belongs to that event loop, as an origin
    /// does that was first called from there, or if there is only one event loop. That saves a sixth to a third of its
    /// CPU. It is for tasks with short steps: a step delays all exchanges of the event loop.
    /// After a step of more than 10 ms, the steps of tasks run on the global executor for a second, as they do while the
    /// transport has no thread because it is idle, shut down or forked.
    public var executor: any TaskExecutor { loops.executor }
}
#endif
