// SPDX-License-Identifier: MIT

/// A clock and clients on it that try again after known waits.
struct RetryBench: Sendable {
    let clock = ManualClock()
    static let lost = NetworkError(.connectionLost(.requestMayHaveArrived))
    static let notSent = NetworkError(.connectionLost(.requestNotSent))

    /// A client whose waits are half of their bounds: 50 ms, 100 ms; throttled 500 ms, 1 s.
    func client(
        _ policy: RetryPolicy = .standard, budget: RetryBudget = RetryBudget(),
        total: Duration? = .seconds(60),
        observers: [any RequestObserver] = [], around: [any Interceptor] = [], inside: [any Interceptor] = [],
        _ configure: (MockTransport) -> Void
    ) -> APIClient {
        let retry = BuiltInInterceptor.retry(policy, budget: budget, random: { 0.5 })
        let configuration = APIClient.Configuration(timeouts: Timeouts(total: total), observers: observers, time: clock)
        return .mock(pipeline: Pipeline(around + [retry] + inside), configuration: configuration, configure)
    }

    /// Answers one after the other, the last again and again.
    static func answers(
        _ answers: [Result<HTTPResponse, NetworkError>]
    ) -> @Sendable (RecordedRequest) async throws -> HTTPResponse {
        let count = Locked(0)
        return { _ in
            let turn = count.next() - 1
            return try answers[min(turn, answers.count - 1)].get()
        }
    }

    /// What comes of the call, and how long it slept each time.
    func waits<Value>(
        of client: APIClient, _ request: Request<Value>
    ) async throws -> (result: Result<Response<Value>, any Error>, waits: [Duration]) {
        try await waits { try await client.response(for: request) }
    }

    /// What comes of the work, and how long it slept each time.
    func waits<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (result: Result<Value, any Error>, waits: [Duration]) {
        let isDone = Locked(false)
        let call = Task {
            defer { isDone.withLock { $0 = true } }
            return try await work()
        }
        var waits: [Duration] = []
        try await yieldUntil {
            guard !isDone.withLock({ $0 }) else { return true }
            if let wait = clock.advanceToNextSleeper() { waits.append(wait) }
            return false
        }
        return (await call.result, waits)
    }
}
