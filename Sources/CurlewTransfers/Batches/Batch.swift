// SPDX-License-Identifier: MIT

public import CurlewCore

/// Calls for many inputs, of which a bounded number runs at the same time.
///
///     let users = try await client.batch(ids) { .user(id: $0) }.values()
///     let results = try await client.batch(ids) { .user(id: $0) }.results()
///     try await client.batch(ids) { .user(id: $0) }.forEach { outcome in print(outcome.input, outcome.result) }
///
/// - Inputs are taken from their sequence only when a call can start, so a lazy sequence may be as long as you like.
///   At most `concurrency` calls have started and not been delivered.
/// - Cancelling the task cancels all calls and starts no more. The methods return when all of them have ended, so no
///   call continues in the background.
/// - Results and progress are delivered on the actor of the caller, one at a time.
public struct Batch<Input: Sendable, Value: Sendable> {
    /// The result for one input.
    public struct Outcome: Sendable {
        /// The position of the input in its sequence, from 0.
        public let index: Int
        /// The input.
        public let input: Input
        /// The value, or the error of its call.
        public let result: Result<Value, NetworkError>
    }

    let client: APIClient
    /// The inputs from their beginning, and their number if it is known.
    let inputs: () -> AnyIterator<Input>
    let total: Int?
    let concurrency: Int
    let timeout: Duration?
    let progress: ((APIClient.BatchProgress) -> Void)?
    let work: @Sendable (Input) async throws -> Value

    /// Returns the values in the order of their inputs. The first error cancels the other calls and is thrown.
    public func values() async throws(NetworkError) -> [Value] {
        var values: [Value?] = []
        do {
            try await run(inOrder: false) { outcome in
                values.put(try outcome.result.get(), at: outcome.index)
            }
        } catch {
            throw NetworkError(error)
        }
        return values.compactMap { $0 }
    }

    /// Returns the results in the order of their inputs: a value or an error for each of them.
    ///
    /// Throws only `.cancelled`, when the task is cancelled.
    public func results() async throws(NetworkError) -> [Result<Value, NetworkError>] {
        var results: [Result<Value, NetworkError>?] = []
        do {
            try await run(inOrder: false) { results.put($0.result, at: $0.index) }
        } catch {
            throw NetworkError(error)
        }
        return results.compactMap { $0 }
    }

    /// Calls `body` with the outcome of each input, one at a time, as the calls end.
    ///
    /// - `inOrder`: whether the outcomes arrive in the order of the inputs. A slow call then delays those after it.
    ///   Default false.
    ///
    /// While `body` runs, calls that have started continue and no further ones start. An error of `body` cancels the
    /// other calls and is thrown unchanged. When the task is cancelled, throws `NetworkError` with `.cancelled`.
    public func forEach(inOrder: Bool = false, _ body: (Outcome) async throws -> Void) async throws {
        try await run(inOrder: inOrder, body)
    }
}

extension APIClient {
    /// How many calls of a batch have ended.
    ///
    /// `TransferProgress` counts bytes, whose rate tells the time that is left. The calls of a batch can be of any size,
    /// so only their number is counted.
    public struct BatchProgress: Sendable, Hashable {
        /// The number of calls that have ended, including those that failed.
        public var completed = 0
        /// The number of calls that have failed.
        public var failed = 0
        /// The number of inputs; nil if their sequence does not know it.
        public let total: Int?

        /// Creates a value, for previews and tests.
        public init(completed: Int = 0, failed: Int = 0, total: Int? = nil) {
            self.completed = completed
            self.failed = failed
            self.total = total
        }

        /// The completed part, from 0 to 1; nil while the total is unknown. 1 for a batch without inputs.
        public var fraction: Double? {
            total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
        }
    }
}

extension Array {
    /// Stores an element at an index, which may be beyond the end.
    fileprivate mutating func put<Wrapped>(_ element: Wrapped, at index: Int) where Element == Wrapped? {
        while count <= index { append(nil) }
        self[index] = element
    }
}
