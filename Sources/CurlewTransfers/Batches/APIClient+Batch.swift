// SPDX-License-Identifier: MIT

public import CurlewCore

extension APIClient {
    /// Returns a batch that sends one request for each input: `client.batch(ids) { .user(id: $0) }`. Nothing is sent
    /// until one of its methods is called.
    ///
    /// - `concurrency`: the maximum number of calls at the same time, at least 1. Default 8.
    /// - `timeout`: the limit for all calls together, from the call of the method. It lowers the total timeout of each
    ///   call to the time that is left, and an input whose call has not started by then fails with `.timedOut(.total)`.
    ///   Default nil: only the timeouts of the calls apply.
    /// - `progress`: called at the start and after each call.
    /// - `request`: creates the request for an input.
    public func batch<Inputs: Sequence, Value>(
        _ inputs: Inputs, concurrency: Int = 8, timeout: Duration? = nil, progress: ((BatchProgress) -> Void)? = nil,
        _ request: @escaping @Sendable (Inputs.Element) -> Request<Value>
    ) -> Batch<Inputs.Element, Value> {
        batch(inputs, concurrency: concurrency, timeout: timeout, progress: progress) { input in
            try await send(request(input))
        }
    }

    /// Returns a batch that performs `work` for each input, such as several calls one after the other:
    ///
    ///     client.batch(orders) { order in
    ///         try await client.send(.approve(order.id))
    ///         return try await client.send(.invoice(order.id))
    ///     }
    ///
    /// The parameters are those of the form for requests. `work` runs off the caller's actor. The timeout limits the
    /// calls that `work` makes with any client, not other waits of `work`. Its errors become `NetworkError`.
    public func batch<Inputs: Sequence, Value: Sendable>(
        _ inputs: Inputs, concurrency: Int = 8, timeout: Duration? = nil, progress: ((BatchProgress) -> Void)? = nil,
        _ work: @escaping @Sendable (Inputs.Element) async throws -> Value
    ) -> Batch<Inputs.Element, Value> {
        Batch(
            client: self, inputs: { AnyIterator(inputs.makeIterator()) },
            total: (inputs as? any RandomAccessCollection)?.count, concurrency: max(1, concurrency), timeout: timeout,
            progress: progress, work: work)
    }

    /// Returns a batch of existing requests. The parameters are those of the form with inputs.
    public func batch<Requests: Sequence, Value>(
        _ requests: Requests, concurrency: Int = 8, timeout: Duration? = nil,
        progress: ((BatchProgress) -> Void)? = nil
    ) -> Batch<Request<Value>, Value> where Requests.Element == Request<Value> {
        batch(requests, concurrency: concurrency, timeout: timeout, progress: progress) { try await send($0) }
    }
}

extension Batch {
    /// Starts the calls, and delivers their outcomes to `body` on the caller's actor.
    func run(
        inOrder: Bool, isolation: isolated (any Actor)? = #isolation, _ body: (Outcome) async throws -> Void
    ) async throws {
        let time = client.configuration.time
        let deadline = Deadline(timeout, after: time.now)
        let change = Self.lowering(to: deadline, on: time)
        var told = APIClient.BatchProgress(total: total)
        progress?(told)
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            // Without this capture, the closure would resume on the global executor after each call.
            _ = isolation
            var window = BatchWindow<Outcome>(width: concurrency, inOrder: inOrder)
            let iterator = inputs()
            var isAtEnd = false
            while true {
                while !isAtEnd, window.hasRoom {
                    guard !Task.isCancelled, let input = iterator.next() else {
                        isAtEnd = true
                        break
                    }
                    let index = window.begin()
                    group.addTask { [work] in
                        await Outcome(index: index, input: input, deadline, time, change, work)
                    }
                }
                guard let ended = try await group.next() else { break }
                if Task.isCancelled { throw NetworkError(.cancelled) }
                for outcome in window.end(ended, at: ended.index) {
                    told.completed += 1
                    if case .failure = outcome.result { told.failed += 1 }
                    try await body(outcome)
                    progress?(told)
                }
            }
            if Task.isCancelled { throw NetworkError(.cancelled) }
        }
    }

    /// Returns the change that lowers the total timeout of each call to the time until `deadline`; nil without one.
    private static func lowering(
        to deadline: Deadline, on time: any TimeSource
    ) -> (@Sendable (inout RequestOptions, Timeouts) -> Void)? {
        guard deadline.instant != nil else { return nil }
        let outer = TaskOptions.change
        return { options, timeouts in
            outer?(&options, timeouts)
            guard let left = deadline.remaining(at: time.now) else { return }
            options.timeouts.total = min(timeouts.overridden(by: options.timeouts).total ?? left, left)
        }
    }
}

extension Batch.Outcome {
    /// Performs the work for one input, unless the deadline has passed.
    fileprivate init(
        index: Int, input: Input, _ deadline: Deadline, _ time: any TimeSource,
        _ change: (@Sendable (inout RequestOptions, Timeouts) -> Void)?,
        _ work: @Sendable (Input) async throws -> Value
    ) async {
        self.index = index
        self.input = input
        do {
            guard !deadline.hasPassed(at: time.now) else {
                throw NetworkError(
                    .timedOut(.total), detail: "The timeout of the batch passed before this call started.",
                    hint: "Raise the timeout or the concurrency of the batch.")
            }
            let value =
                if let change {
                    try await TaskOptions.$change.withValue(change) { try await work(input) }
                } else {
                    try await work(input)
                }
            result = .success(value)
        } catch {
            result = .failure(NetworkError(error))
        }
    }
}
