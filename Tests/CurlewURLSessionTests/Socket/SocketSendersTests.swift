// SPDX-License-Identifier: MIT

import Dispatch
import TestServers
import Testing

@testable import CurlewURLSession

/// The waiting senders of a connection, each of which is resumed exactly once. A second resumption ends the process.
@Suite(.timeLimit(.minutes(1)))
struct SocketSendersTests {
    @Test("A cancellation, the handler and the connection's end at the same time leave no sender")
    func race() async throws {
        let senders = SocketSenders()
        for round in 0..<20_000 {
            let task = Task {
                try await senders.wait { handler in
                    if round % 2 == 0 { DispatchQueue.global().async { handler(.success(())) } }
                    return round % 7 == 0 ? NetworkError(.connectionLost(.requestNotSent)) : nil
                }
            }
            DispatchQueue.global().async {
                // The pause varies, so that the cancellation comes at every point of the wait.
                var pause = round % 400
                while pause > 0 { pause -= 1 }
                task.cancel()
            }
            if round % 5 == 0 { senders.end(NetworkError(.connectionLost(.requestMayHaveArrived))) }
            _ = await reason(of: task)
        }
        #expect(senders.count == 0)
    }

    @Test func theFirstResultCounts() async throws {
        let senders = SocketSenders()
        try await senders.wait { handler in
            handler(.success(()))
            handler(.failure(NetworkError(.badResponse)))
            return NetworkError(.badResponse)
        }
        let failed = Task { try await senders.wait { _ in NetworkError(.badResponse) } }
        #expect(await reason(of: failed) == .badResponse)
        let waiting = Task { try await senders.wait { _ in nil } }
        #expect(await eventually { senders.count == 1 })
        senders.end(NetworkError(.refused(by: .shutdown)))
        #expect(await reason(of: waiting) == .refused(by: .shutdown))
    }

    @Test func aCancelledTaskStillStartsItsOperation() async {
        let (senders, started) = (SocketSenders(), Locked(false))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await senders.wait { _ in
                started.withLock { $0 = true }
                return nil
            }
        }
        #expect(await reason(of: task) == .cancelled)
        #expect(started.withLock { $0 })
    }
}
