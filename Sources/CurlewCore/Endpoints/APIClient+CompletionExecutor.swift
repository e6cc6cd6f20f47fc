// SPDX-License-Identifier: MIT

#if canImport(Dispatch)
public import Dispatch
#endif

extension APIClient {
    /// An executor that runs completion closures, such as a dispatch queue.
    public struct CompletionExecutor: Sendable {
        /// Runs a closure; nil selects the executor of the client's configuration.
        let run: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

        /// Creates an executor that passes each closure to `run`, which must call it exactly once.
        public init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
            self.run = run
        }

        private init() {
            run = nil
        }

        /// An executor that runs closures on the thread on which the call ended. That thread belongs to the concurrency
        /// runtime, so the closures must return quickly.
        public static let anywhere = CompletionExecutor { $0() }

        /// The executor that `APIClient.Configuration.completionExecutor` sets.
        public static let client = CompletionExecutor()

        #if canImport(Dispatch)
        /// Returns an executor that runs closures on a dispatch queue, after the call has ended. A serial queue keeps
        /// the order in which calls end.
        public static func queue(_ queue: DispatchQueue) -> CompletionExecutor {
            CompletionExecutor { work in queue.async(execute: work) }
        }
        #endif
    }
}
