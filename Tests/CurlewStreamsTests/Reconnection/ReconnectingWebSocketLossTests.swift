// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import TestFixtures
import Testing

@testable import CurlewStreams

/// Random losses: no message is lost silently.
@Suite("Losses of a WebSocket that connects again", .serialized, .timeLimit(.minutes(1)))
struct ReconnectingWebSocketLossTests {
    /// What remains of a run.
    private struct Outcome {
        var accepted: [WebSocketMessage] = []
        var losses: [ReconnectingWebSocket.Loss] = []
        let server = LossyServer()
    }

    /// Sends messages over a network that delivers, delays and loses at random.
    private func run(seed: UInt64, _ change: (inout ReconnectingWebSocket.Options) -> Void) async throws -> Outcome {
        var random = SeededGenerator(seed: seed)
        var outcome = Outcome()
        let log = LossLog()
        var options = ReconnectingWebSocket.Options.quiet()
        options.outgoingMessages = Int.random(in: 1...20, using: &random)
        change(&options)
        let server = outcome.server
        let socket = server.client().reconnectingWebSocket(.get("/"), options: options, onLoss: { log.add($0) })
        let sender = Task {
            var accepted: [WebSocketMessage] = []
            for number in 0..<300 {
                do throws(NetworkError) {
                    try await socket.send("\(number)")
                    accepted.append(.text("\(number)"))
                } catch {
                    // Without a queue, messages between connections are refused.
                    #expect(error.reason == .connectionLost(.requestNotSent), "seed \(seed)")
                    await Task.yield()
                }
            }
            return accepted
        }
        let isSent = Locked(false)
        let watch = Task {
            _ = await sender.value
            isSent.withLock { $0 = true }
        }
        while !isSent.withLock({ $0 }) {
            try Task.checkCancellation()
            if let connection = server.connections.last {
                switch Int.random(in: 0..<100, using: &random) {
                case 0: connection.lose()
                case 1: connection.lose(closing: (.goingAway, ""))
                case 2: socket.restart()
                default: for _ in 0..<Int.random(in: 0..<4, using: &random) { connection.deliver() }
                }
            }
            for _ in 0..<Int.random(in: 0..<5, using: &random) { await Task.yield() }
        }
        await watch.value
        outcome.accepted = await sender.value
        if Bool.random(using: &random) {
            server.repair()
            try await yieldUntil { socket.core.outgoing.isEmpty }
        }
        // Without a repaired network, a close that waits for acknowledgements would wait for the clock.
        let closing = Task { await socket.close() }
        closing.cancel()
        await closing.value
        outcome.losses = log.losses
        return outcome
    }

    private func numbers(_ messages: [WebSocketMessage]) -> [Int] { messages.texts.compactMap(Int.init) }

    @Test(
        "Every message arrives once, or is handed back, in order; what is handed back was not proved to have arrived",
        arguments: 0..<20, [true, false])
    func nothingIsLostSilently(round: Int, queues: Bool) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let outcome = try await run(seed: seed) { $0.queuesWhileDisconnected = queues }
        let delivered = numbers(outcome.server.delivered)
        let unacknowledged = numbers(outcome.losses.flatMap(\.unacknowledged))
        let unsent = numbers(outcome.losses.flatMap(\.unsent))
        #expect(delivered == delivered.sorted() && Set(delivered).count == delivered.count, "seed \(seed)")
        #expect(unacknowledged == unacknowledged.sorted(), "seed \(seed)")
        #expect(Set(unacknowledged).isDisjoint(with: unsent), "seed \(seed)")
        #expect(Set(unsent).isDisjoint(with: delivered), "seed \(seed)")
        #expect(Set(delivered + unacknowledged + unsent) == Set(numbers(outcome.accepted)), "seed \(seed)")
        // Those handed back after a connection are the last ones that it sent, all unproven ones included.
        var rest = Set(unacknowledged)
        for connection in outcome.server.connections {
            let (messages, proven) = connection.sent
            let sent = numbers(messages)
            let handedBack = sent.filter { rest.remove($0) != nil }
            #expect(handedBack == sent.suffix(handedBack.count), "seed \(seed)")
            #expect(handedBack.count >= sent.count - proven, "seed \(seed)")
        }
        #expect(rest.count <= outcome.losses.count, "At most one for each loss was not passed on in time; seed \(seed)")
    }

    @Test(
        "With resends, every message arrives at least once, in order, or is handed back at the end", arguments: 0..<20)
    func resending(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let outcome = try await run(seed: seed) { $0.resends = { _ in true } }
        var first: [Int] = []
        for number in numbers(outcome.server.delivered) where !first.contains(number) { first.append(number) }
        #expect(first == first.sorted(), "seed \(seed)")
        let last = try #require(outcome.losses.last)
        #expect(last.isFinal && outcome.losses.dropLast().allSatisfy { $0.unacknowledged.isEmpty }, "seed \(seed)")
        let unacknowledged = numbers(last.unacknowledged)
        let unsent = numbers(last.unsent)
        #expect(unacknowledged + unsent == (unacknowledged + unsent).sorted(), "seed \(seed)")
        #expect(Set(unsent).isDisjoint(with: first), "seed \(seed)")
        #expect(Set(first + unacknowledged + unsent) == Set(0..<300), "seed \(seed)")
    }

    @Test("Many tasks send while connections are lost, restarted and closed", arguments: 0..<5)
    func manyTasks(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let (server, log, accepted) = (LossyServer(), LossLog(), Locked(Set<WebSocketMessage>()))
        server.repair()
        let options = ReconnectingWebSocket.Options.quiet { $0.outgoingMessages = 7 }
        let socket = server.client().reconnectingWebSocket(.get("/"), options: options, onLoss: { log.add($0) })
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<100 {
                        let message = WebSocketMessage.text("\(task).\(number)")
                        guard (try? await socket.send(message)) != nil else { return }
                        accepted.withLock { _ = $0.insert(message) }
                    }
                }
            }
            group.addTask {
                var random = SeededGenerator(seed: seed)
                for _ in 0..<100 {
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: server.connections.last?.lose()
                    case 1: socket.restart()
                    default: for _ in 0..<20 { await Task.yield() }
                    }
                }
                await socket.close()
            }
            group.addTask { await socket.close() }
        }
        let handedBack = log.losses.flatMap { $0.unacknowledged + $0.unsent }
        #expect(accepted.withLock { $0 } == Set(server.delivered + handedBack), "seed \(seed)")
        #expect(log.losses.filter(\.isFinal).count == 1)
    }
}
