// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewStreams
import CurlewTesting
import Foundation

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
    private let source: AsyncStream<Data>.Continuation
    private let end = Locked(false)

    init() {
        let (stream, source) = AsyncStream.makeStream(of: Data.self)
        self.source = source
        source.onTermination = { [end] _ in end.withLock { $0 = true } }
        response = HTTPResponse(headers: [.contentType: "text/event-stream"], body: ResponseBody(stream))
    }

    var isClosed: Bool { end.withLock { $0 } }

    func send(_ text: String) {
        source.yield(Data(text.utf8))
    }

    func finish() {
        source.finish()
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
        .mock(mock, configuration: APIClient.Configuration(time: clock))
    }
}

extension EventStream {
    func collect() async throws -> [ServerEvent] {
        var events: [ServerEvent] = []
        for try await event in self { events.append(event) }
        return events
    }
}
