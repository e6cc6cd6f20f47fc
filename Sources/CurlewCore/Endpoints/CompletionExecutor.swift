// SPDX-License-Identifier: MIT

#if canImport(Dispatch)
public import Dispatch
#endif

/// Where a completion closure runs, for callers that do not await.
public struct CompletionExecutor: Sendable {
    /// Nil stands for the executor of the client's configuration.
    let run: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// An executor that hands its work to `run`, which must perform it exactly once.
    public init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.run = run
    }

    private init() {
        run = nil
    }

    /// On the thread where the call ended, a thread of the concurrency runtime: return quickly.
    public static let anywhere = CompletionExecutor { $0() }

    /// That of the client's configuration.
    public static let client = CompletionExecutor()

    #if canImport(Dispatch)
    /// On a dispatch queue, after the call has ended; a serial queue keeps the order in which calls end.
    public static func queue(_ queue: DispatchQueue) -> CompletionExecutor {
        CompletionExecutor { work in queue.async(execute: work) }
    }
    #endif
}
