// SPDX-License-Identifier: MIT

#if canImport(Dispatch)
public import Dispatch
#endif

extension APIClient {
    /// Specifies where a completion closure runs.
    public struct CompletionExecutor: Sendable {
        /// Nil selects the executor of the client's configuration.
        let run: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

        /// Creates an executor that passes its work to `run`, which must perform it exactly once.
        public init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
            self.run = run
        }

        private init() {
            run = nil
        }

        /// Runs closures on the thread where the call ended, which belongs to the concurrency runtime. Closures must
        /// return quickly.
        public static let anywhere = CompletionExecutor { $0() }

        /// The executor of the client's configuration.
        public static let client = CompletionExecutor()

        #if canImport(Dispatch)
        /// Runs closures on a dispatch queue, after the call has ended. A serial queue keeps the order in which calls
        /// end.
        public static func queue(_ queue: DispatchQueue) -> CompletionExecutor {
            CompletionExecutor { work in queue.async(execute: work) }
        }
        #endif
    }
}
