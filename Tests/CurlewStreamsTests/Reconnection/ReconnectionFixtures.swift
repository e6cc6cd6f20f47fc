// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import TestFixtures

@testable import CurlewStreams

/// A server without sockets, whose connections a test takes one after the other.
final class PeerServer: Sendable {
    private let peers: AsyncStream<MockWebSocket>
    private let arrival: AsyncStream<MockWebSocket>.Continuation
    private let hold = AsyncStream<Never>.makeStream()
    /// The responses of the first requests; later requests are connections.
    private let refusals: Locked<[HTTPResponse]>
    private let count = Locked(0)

    init(refusals: [HTTPResponse] = []) {
        (peers, arrival) = AsyncStream.makeStream()
        self.refusals = Locked(refusals)
    }

    deinit {
        hold.continuation.finish()
    }

    /// The number of requests.
    var requests: Int { count.withLock { $0 } }

    func client(on clock: ManualClock = .skippingWaits, pipeline: Pipeline = .empty) -> APIClient {
        let mock = MockTransport.answering { [weak self] _ in
            guard let self else { throw NetworkError(.unreachable) }
            return respond()
        }
        return .mock(mock, pipeline: pipeline, configuration: APIClient.Configuration(time: clock))
    }

    private func respond() -> HTTPResponse {
        count.withLock { $0 += 1 }
        let refusal = refusals.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let refusal { return refusal }
        return .webSocket { [arrival, hold = hold.stream] peer in
            arrival.yield(peer)
            for await _ in hold {}
        }
    }

    /// Waits for the next connection.
    func next() async throws -> MockWebSocket {
        var iterator = peers.makeAsyncIterator()
        guard let peer = await iterator.next() else { throw CancellationError() }
        return peer
    }
}

extension MockWebSocket {
    /// Waits for this number of messages.
    func texts(_ count: Int) async throws -> [String] {
        var texts: [String] = []
        while texts.count < count, case .text(let text) = try await next() { texts.append(text) }
        return texts
    }
}

extension ReconnectingWebSocket {
    /// Waits until a state satisfies the condition.
    func wait(for condition: (State) -> Bool) async throws {
        try await yieldUntil { condition(state) }
    }

    /// Waits until the messages that were sent are acknowledged.
    func waitForAcknowledgement() async throws {
        try await yieldUntil { core.outgoing.unacknowledged.isEmpty }
    }
}

extension ReconnectingWebSocket.State {
    var isWaiting: Bool { if case .waiting = self { true } else { false } }
    var isClosed: Bool { if case .closed = self { true } else { false } }
}

extension ReconnectingWebSocket.Options {
    /// Options without a heartbeat, which would be a pause on the clock of a test.
    static func quiet(_ change: (inout Self) -> Void = { _ in }) -> Self {
        var options = Self()
        options.socket.heartbeat = nil
        change(&options)
        return options
    }
}

/// Records losses.
struct LossLog: Sendable {
    private let log = Locked<[ReconnectingWebSocket.Loss]>([])

    var losses: [ReconnectingWebSocket.Loss] { log.withLock { $0 } }

    func add(_ loss: ReconnectingWebSocket.Loss) {
        log.withLock { $0.append(loss) }
    }

    /// Waits until this number of losses is recorded.
    func wait(for count: Int) async throws {
        try await yieldUntil { losses.count >= count }
    }
}

extension [WebSocketMessage] {
    var texts: [String] { map { if case .text(let text) = $0 { text } else { "binary" } } }
}
