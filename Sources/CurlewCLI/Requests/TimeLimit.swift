// SPDX-License-Identifier: MIT

import CurlewCore

/// The limit of `--max-time` for uploads and streams, to which the client's limit for one call does not apply.
enum TimeLimit {
    private enum Step<Value: Sendable>: Sendable {
        case done(Value)
        case late
        case cancelled
    }

    /// Runs `work`, and cancels it when the time is over. Throws `.timedOut` then.
    static func run<Value: Sendable>(
        _ limit: Duration?, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await work() }
        return try await withThrowingTaskGroup(of: Step<Value>.self) { group in
            group.addTask { .done(try await work()) }
            group.addTask {
                do {
                    try await Task.sleep(for: limit)
                    return .late
                } catch {
                    return .cancelled
                }
            }
            defer { group.cancelAll() }
            while let step = try await group.next() {
                switch step {
                case .done(let value): return value
                // The work ends too, with its own error.
                case .cancelled: continue
                case .late: break
                }
                break
            }
            throw NetworkError(
                .timedOut(.total), detail: "The time of --max-time is over.", hint: "Give it more time, or none.")
        }
    }
}
