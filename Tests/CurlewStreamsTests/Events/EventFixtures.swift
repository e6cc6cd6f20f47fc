// SPDX-License-Identifier: MIT

import CurlewStreams

extension HTTPResponse {
    /// An event stream with this text as its body, which then ends.
    static func events(_ text: String, type: String? = "text/event-stream") -> HTTPResponse {
        HTTPResponse(headers: type.map { [.contentType: $0] } ?? [:], body: ResponseBody(Data(text.utf8)))
    }

    /// An event stream with these bytes in random chunks, which then ends or fails.
    static func events(
        _ bytes: Data, failing error: NetworkError?, random: inout SeededGenerator
    ) -> HTTPResponse {
        var chunks: [Data] = []
        var rest = bytes
        while !rest.isEmpty {
            let count = Int.random(in: 1...min(40, rest.count), using: &random)
            chunks.append(Data(rest.prefix(count)))
            rest = Data(rest.dropFirst(count))
        }
        let body = AsyncThrowingStream<Data, any Error> { source in
            for chunk in chunks { source.yield(chunk) }
            source.finish(throwing: error)
        }
        return HTTPResponse(headers: [.contentType: "text/event-stream"], body: ResponseBody(body))
    }
}

/// An event stream that a test feeds, and that records the end of its transfer.
struct FedEvents: Sendable {
    let response: HTTPResponse
    private let source = FedSource()

    init() {
        response = HTTPResponse(
            headers: [.contentType: "text/event-stream"], body: ResponseBody(source, limit: .max, length: nil))
    }

    /// Whether the transfer was cancelled.
    var isClosed: Bool { source.isCancelled.withLock { $0 } }

    func send(_ text: String) {
        source.chunks.yield(Data(text.utf8))
    }

    func finish() {
        source.chunks.finish()
    }
}

private final class FedSource: ResponseBodySource {
    let chunks: AsyncStream<Data>.Continuation
    let isCancelled = Locked(false)
    private let stream: AsyncStream<Data>

    init() {
        (stream, chunks) = AsyncStream.makeStream(of: Data.self)
    }

    func next() async throws -> Data? {
        // Each iterator continues where the one before stopped.
        for await chunk in stream { return chunk }
        return nil
    }

    func cancel() {
        isCancelled.withLock { $0 = true }
        chunks.finish()
    }
}

extension MockTransport {
    /// A mock that sends these responses in order, and then 204.
    static func sequence(_ responses: [HTTPResponse]) -> MockTransport {
        let rest = Locked(responses)
        return .answering { _ in
            rest.withLock { $0.isEmpty ? .status(.noContent) : $0.removeFirst() }
        }
    }
}

extension APIClient {
    static func events(_ mock: MockTransport, on clock: ManualClock = .skippingWaits) -> APIClient {
        .mock(mock, configuration: .init(time: clock))
    }
}

extension EventStream {
    func collect() async throws -> [ServerEvent] {
        var events: [ServerEvent] = []
        for try await event in self { events.append(event) }
        return events
    }
}
