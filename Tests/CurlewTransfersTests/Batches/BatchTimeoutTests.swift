// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BatchTimeoutTests {
    /// The total timeouts of the calls of a batch, each of which takes two seconds.
    private func totals(
        _ timeout: Duration?, client total: Duration? = Timeouts.unset, call: Duration? = Timeouts.unset
    ) async throws -> (totals: [Duration?], results: [Result<Int, NetworkError>]) {
        let clock = ManualClock()
        let seen = Locked<[Duration?]>([])
        let transport = RecordingTransport { _, context in
            seen.withLock { $0.append(context.timeouts.total) }
            clock.advance(by: .seconds(2))
            return .answer("1")
        }
        let client = APIClient.testing(
            transport, configuration: APIClient.Configuration(timeouts: Timeouts(total: total), time: clock))
        let results = try await client.batch(0..<4, concurrency: 1, timeout: timeout) { number in
            Request<Int>.number(number).options { $0.timeouts = Timeouts(total: call) }
        }.results()
        return (seen.withLock { $0 }, results)
    }

    @Test("the total timeout of each call is lowered to the time that is left, and never raised")
    func lowered() async throws {
        #expect(try await totals(nil).totals == Array(repeating: .seconds(300), count: 4))
        #expect(try await totals(.seconds(20)).totals == [.seconds(20), .seconds(18), .seconds(16), .seconds(14)])
        #expect(
            try await totals(.seconds(9), client: .seconds(8)).totals == [
                .seconds(8), .seconds(7), .seconds(5), .seconds(3),
            ])
        #expect(
            try await totals(.seconds(9), client: .seconds(2), call: .seconds(6)).totals == [
                .seconds(6), .seconds(6), .seconds(5), .seconds(3),
            ])
        #expect(
            try await totals(.seconds(9), client: nil).totals == [.seconds(9), .seconds(7), .seconds(5), .seconds(3)])
    }

    @Test("inputs that have not started by then fail without being sent")
    func passed() async throws {
        let (totals, results) = try await totals(.seconds(4))
        #expect(totals == [.seconds(4), .seconds(2)])
        let reasons = results.map { result -> NetworkError.Reason? in
            if case .failure(let error) = result { error.reason } else { nil }
        }
        #expect(reasons.suffix(2) == [.timedOut(.total), .timedOut(.total)] && reasons.first == .some(nil))
        let none = try await self.totals(.zero)
        #expect(none.totals.isEmpty && none.results.count == 4)
    }

    @Test("work with another client keeps that client's shorter timeout, and an outer change of the task applies")
    func otherClients() async throws {
        let seen = Locked<[Duration?]>([])
        let transport = RecordingTransport { _, context in
            seen.withLock { $0.append(context.timeouts.total) }
            #expect(context.options.isIdempotent == true)
            return .answer("1")
        }
        let clock = ManualClock()
        let client = APIClient.testing(transport, configuration: APIClient.Configuration(time: clock))
        let hasty = APIClient.testing(
            transport, configuration: APIClient.Configuration(timeouts: Timeouts(total: .seconds(1)), time: clock))
        try await TaskOptions.$change.withValue({ options, _ in options.isIdempotent = true }) {
            _ = try await client.batch(0..<1, timeout: .seconds(30)) { number in
                try await client.send(.number(number)) + hasty.send(.number(number))
            }.values()
        }
        #expect(seen.withLock { $0 } == [.seconds(30), .seconds(1)])
    }
}
