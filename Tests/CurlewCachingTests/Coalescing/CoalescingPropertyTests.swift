// SPDX-License-Identifier: MIT

import CurlewCaching
import Testing

/// Random joins, cancellations, failures and readers of all kinds, at random moments.
@Suite(.timeLimit(.minutes(1)))
struct CoalescingPropertyTests {
    /// What a call does with its response.
    enum Conduct: CaseIterable {
        case readsAll, isCancelled, stopsReading, readsNothing
    }

    /// What is random about a run.
    struct Plan: Sendable {
        let chunks: [Data]
        let headFails: Bool
        let headDelay: Int
        let conducts: [(Conduct, delay: Int)]

        init(_ random: inout SeededGenerator) {
            let count = Int.random(in: 0...40, using: &random)
            chunks = (0..<count).map { _ in Data([1] + random.bytes(upTo: 300)) }
            headFails = Int.random(in: 0..<6, using: &random) == 0
            headDelay = Int.random(in: 0...60, using: &random)
            var conducts: [(Conduct, delay: Int)] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let conduct = Conduct.allCases.randomElement(using: &random) ?? .readsAll
                conducts.append((conduct, Int.random(in: 0...80, using: &random)))
            }
            self.conducts = conducts
        }

        var whole: Data { chunks.reduce(Data(), +) }
    }

    @Test(
        "All calls receive the same bytes, and the work is cancelled when the last one leaves"
    )
    func property() async throws {
        for seed in UInt64(1)...400 {
            var random = SeededGenerator(seed: seed)
            let plan = Plan(&random)
            let ledger = Ledger(staying: plan.conducts.count)
            let joins = JoinObserver()
            let origin = PlannedOrigin(plan, ledger, joins)
            let client = APIClient.testing(origin, pipeline: [.coalescing()], observers: [joins])
            let readers = plan.conducts.map { conduct, delay in
                Task { await Self.call(client, conduct, delay, plan, ledger) }
            }
            // All have joined before the first one leaves: there is one exchange, and the ledger knows who is in it.
            try await joins.tally.reaches(plan.conducts.count - 1)
            try await origin.sent.reaches(1)
            for (reader, (conduct, delay)) in zip(readers, plan.conducts) where conduct == .isCancelled {
                for _ in 0..<delay { await Task.yield() }
                ledger.leave()
                reader.cancel()
            }
            for reader in readers {
                if let problem = await reader.value { Issue.record("\(problem), seed \(seed)") }
            }
            // All callers have left: either the work was complete, or it was cancelled.
            try await ledger.over.reaches(1)
            #expect(ledger.tooEarly == 0, "seed \(seed)")
        }
    }

    @Test("Calls that come and go get one whole response each, and no exchange stays behind", arguments: 1...5)
    func storm(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let origin = NumberingOrigin()
        let client = APIClient.testing(origin, pipeline: [.coalescing()])
        var calls: [(Task<Data, any Error>, isCancelled: Bool)] = []
        for _ in 0..<400 {
            let path: RequestPath = Bool.random(using: &random) ? "/a" : "/b"
            let isCancelled = Int.random(in: 0..<4, using: &random) == 0
            let task = Task { try await client.send(Request<Data>.get(path)) }
            calls.append((task, isCancelled))
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            if isCancelled { task.cancel() }
        }
        for (call, isCancelled) in calls {
            switch await ending(call) {
            case .success(let data): #expect(data.count == 1000 && Set(data).count == 1, "seed \(seed)")
            case .failure(let error): #expect(isCancelled && error.isCancelled, "\(error), seed \(seed)")
            }
        }
        try await origin.ended.reaches(origin.sent.count)
        #expect(origin.sent.count < 400, "seed \(seed)")
    }

    /// One call; says what is wrong with what it got.
    static func call(
        _ client: APIClient, _ conduct: Conduct, _ delay: Int, _ plan: Plan, _ ledger: Ledger
    ) async -> String? {
        var data = Data()
        var error: NetworkError?
        do {
            let response = try await client.send(Request<HTTPResponse>(.get, "/x"))
            var left = conduct == .stopsReading ? delay / 4 : conduct == .readsNothing ? 0 : Int.max
            if left > 0 {
                for try await chunk in response.body {
                    data += chunk
                    left -= 1
                    if left == 0 { break }
                    if delay % 3 == 0 { await Task.yield() }
                }
            }
            withExtendedLifetime(response) {
                if conduct != .isCancelled { ledger.leave() }
            }
        } catch let failure {
            error = NetworkError(failure)
        }
        guard plan.whole.starts(with: data) else { return "other bytes" }
        guard conduct == .readsAll else { return nil }
        if plan.headFails { return error?.reason == .unreachable ? nil : "no error of the head: \(error as Any)" }
        return data == plan.whole && error == nil ? nil : "\(data.count) bytes, \(error as Any)"
    }
}

/// Who has not left yet, and whether the work ended before that.
final class Ledger: Sendable {
    private let state: Locked<(staying: Int, tooEarly: Int, isOver: Bool)>
    let over = Tally()

    init(staying: Int) {
        state = Locked((staying, 0, false))
    }

    var tooEarly: Int { state.withLock { $0.tooEarly } }

    func leave() {
        state.withLock { $0.staying -= 1 }
    }

    /// The work was complete, or was cancelled.
    func end(isComplete: Bool) {
        let isFirst = state.withLock { state in
            guard !state.isOver else { return false }
            state.isOver = true
            if !isComplete, state.staying > 0 { state.tooEarly += 1 }
            return true
        }
        if isFirst { over.add() }
    }
}

/// Answers as planned.
private final class PlannedOrigin: Transport {
    private let plan: CoalescingPropertyTests.Plan
    private let ledger: Ledger
    private let joins: JoinObserver
    let sent = Tally()

    init(_ plan: CoalescingPropertyTests.Plan, _ ledger: Ledger, _ joins: JoinObserver) {
        self.plan = plan
        self.ledger = ledger
        self.joins = joins
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        sent.add()
        try? await joins.tally.reaches(plan.conducts.count - 1)
        for _ in 0..<plan.headDelay { await Task.yield() }
        if Task.isCancelled {
            ledger.end(isComplete: false)
            throw NetworkError(.cancelled)
        }
        if plan.headFails {
            ledger.end(isComplete: true)
            throw NetworkError(.unreachable)
        }
        ledger.end(isComplete: true)
        return HTTPResponse(body: ResponseBody(plan.whole))
    }
}

/// Each response has bytes of its own; every other one arrives complete.
private final class NumberingOrigin: Transport {
    let sent = Tally()
    let ended = Tally()

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        sent.add()
        let byte = UInt8(truncatingIfNeeded: sent.count)
        for _ in 0..<10 { await Task.yield() }
        if byte % 2 == 0 {
            ended.add()
            return HTTPResponse(body: ResponseBody(Data(repeating: byte, count: 1000)))
        }
        let source = NumberedSource(byte, ended)
        return HTTPResponse(body: ResponseBody(source, limit: 1 << 20, length: nil))
    }
}

private final class NumberedSource: ResponseBodySource {
    private let left = Locked(10)
    private let isOver = Locked(false)
    private let byte: UInt8
    private let ended: Tally

    init(_ byte: UInt8, _ ended: Tally) {
        self.byte = byte
        self.ended = ended
    }

    func next() async throws -> Data? {
        await Task.yield()
        try Task.checkCancellation()
        let hasMore = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if hasMore { return Data(repeating: byte, count: 100) }
        cancel()
        return nil
    }

    func cancel() {
        let wasOver = isOver.withLock { isOver in
            defer { isOver = true }
            return isOver
        }
        if !wasOver { ended.add() }
    }
}
