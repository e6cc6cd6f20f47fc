// SPDX-License-Identifier: MIT

import CurlewCaching

/// A count that tests wait for.
final class Tally: Sendable {
    private let state = Locked((count: 0, waiters: [(least: Int, shot: SharedResult<Void>)]()))

    var count: Int { state.withLock { $0.count } }

    func add() {
        let ready = state.withLock { state in
            state.count += 1
            let ready = state.waiters.filter { $0.least <= state.count }.map(\.shot)
            state.waiters.removeAll { $0.least <= state.count }
            return ready
        }
        for shot in ready { shot.finish(.success(())) }
    }

    /// Returns once there are this many.
    func reaches(_ least: Int) async throws {
        let shot = SharedResult<Void>()
        let isThere = state.withLock { state in
            if state.count < least { state.waiters.append((least, shot)) }
            return state.count >= least
        }
        if !isThere { try await shot.wait() }
    }
}

/// A transport whose answers wait until the test lets them go.
final class GatedOrigin: Transport {
    let sent = Tally()
    let cancelled = Tally()
    private let gate = SharedResult<TaskPriority>()
    private let priority = Locked<TaskPriority?>(nil)
    private let answer: @Sendable (HTTPRequest) throws -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse) {
        self.answer = answer
    }

    /// Of the task in which the last response was made.
    var lastPriority: TaskPriority? { priority.withLock { $0 } }

    /// Answers as soon as its task has at least this priority: being made more urgent takes a moment.
    func open(at least: TaskPriority = .background) { gate.finish(.success(least)) }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        sent.add()
        do {
            let least = try await gate.wait()
            try await yieldUntil { Task.currentPriority >= least }
        } catch {
            cancelled.add()
            throw NetworkError(error)
        }
        let current = Task.currentPriority
        priority.withLock { $0 = current }
        return try answer(request)
    }
}

/// Records which calls joined.
final class JoinObserver: RequestObserver {
    let tally = Tally()
    private let all = Locked<[(call: UInt64, exchange: UInt64)]>([])

    var joined: [(call: UInt64, exchange: UInt64)] { all.withLock { $0 } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard case .joined(let exchange) = event else { return }
        all.withLock { $0.append((context.id, exchange)) }
        tally.add()
    }
}

/// A client that shares, an origin that holds its responses back, and a user who listens.
struct Sharing {
    let origin: GatedOrigin
    let joins = JoinObserver()
    let clock = ManualClock()
    let client: APIClient

    init(
        _ pipeline: Pipeline = [.coalescing()], total: Duration? = nil,
        _ answer: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse = { _ in .answer("1") }
    ) {
        origin = GatedOrigin(answer)
        client = .testing(
            origin, pipeline: pipeline, timeouts: Timeouts(connect: nil, firstByte: nil, idle: nil, total: total),
            observers: [joins], time: clock)
    }

    /// Begins a call for `/x`, and returns once it is in progress: it has been sent, or has joined.
    func begin<Value>(_ request: Request<Value>, priority: TaskPriority? = nil) async throws -> Task<Value, any Error> {
        let before = origin.sent.count + joins.tally.count
        let task = Task(priority: priority) { try await client.send(request) }
        try await yieldUntil { origin.sent.count + joins.tally.count != before }
        return task
    }

    func begin(_ count: Int) async throws -> [Task<Int, any Error>] {
        var tasks: [Task<Int, any Error>] = []
        for _ in 0..<count { tasks.append(try await begin(Request<Int>.get("/x"))) }
        return tasks
    }
}

/// How a task ended.
func ending<Value: Sendable>(_ task: Task<Value, any Error>) async -> Result<Value, NetworkError> {
    do { return .success(try await task.value) } catch { return .failure(NetworkError(error)) }
}

extension Result where Failure == NetworkError {
    var reason: NetworkError.Reason? {
        if case .failure(let error) = self { error.reason } else { nil }
    }
}
