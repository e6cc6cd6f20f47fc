// SPDX-License-Identifier: MIT

import Testing

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

    func client(on clock: any TimeSource = ManualClock.skippingWaits, pipeline: Pipeline = .empty) -> APIClient {
        let mock = MockTransport.answering { [weak self] _ in
            guard let self else { throw NetworkError(.unreachable) }
            return respond()
        }
        return .mock(mock, pipeline: pipeline, configuration: .init(time: clock))
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

extension PauseLog {
    /// Expects so many random pauses, whose bound in seconds doubles up to `most`.
    func expectBackoff(of count: Int, from first: Double, to most: Double) {
        #expect(pauses.count == count)
        var bound = first
        for (index, pause) in pauses.enumerated() {
            #expect(pause >= .zero && pause <= .seconds(bound) + .milliseconds(100), "pause \(index)")
            bound = min(bound * 2, most)
        }
        // The bound is `most` from the eleventh pause on. The sum is less with a probability of less than 10^-9.
        #expect(pauses.dropFirst(10).reduce(.zero, +) > .seconds(most * Double(count - 10) / 4))
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

extension WebSocket {
    /// Returns the rest of the messages, and the error with which they end.
    func rest() async -> (messages: [WebSocketMessage], error: NetworkError?) {
        var messages: [WebSocketMessage] = []
        do {
            for try await message in self { messages.append(message) }
        } catch {
            return (messages, NetworkError(error))
        }
        return (messages, nil)
    }
}

extension WebSocket.Connections {
    /// Iterates in a task, which reads each connection to its end.
    func readAll() -> Task<Void, any Error> {
        Task { for try await socket in self { _ = await socket.rest() } }
    }
}

extension WebSocket.Connections.Options {
    /// Options without a heartbeat, which would be a pause on the clock of a test.
    static func quiet(_ change: (inout Self) -> Void = { _ in }) -> Self {
        var options = Self()
        options.socket.heartbeat = nil
        change(&options)
        return options
    }
}
