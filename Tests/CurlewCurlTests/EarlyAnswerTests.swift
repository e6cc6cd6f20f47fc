// SPDX-License-Identifier: MIT

import Testing

/// Servers that response before they have the whole request: the response reaches the caller, whatever the producer
/// does.
@Suite(.timeLimit(.minutes(1)))
struct EarlyAnswerTests {
    let transport = CurlTransport()

    /// What produces the unwanted body.
    enum Producer: String, CaseIterable, Sendable {
        case bytes, endless, stuck, stuckWithLength

        func body(_ ended: Signal) -> RequestBody {
            switch self {
            case .bytes: .bytes(Data(count: 30_000_000))
            case .endless: .stream { .init(AsyncStream { Data(count: 16_384) }) }
            case .stuck: .stream { .init(Stuck(ended: ended)) }
            case .stuckWithLength: .stream(length: 100) { .init(Stuck(ended: ended)) }
            }
        }
    }

    /// How the server ends its response.
    enum Ending: String, CaseIterable, Sendable {
        case keeps, closes, closesChunked

        var answer: String {
            let head = "HTTP/1.1 413 Content Too Large\r\n"
            return switch self {
            case .keeps: head + "Content-Length: 4\r\n\r\nstop"
            case .closes: head + "Content-Length: 4\r\nConnection: close\r\n\r\nstop"
            case .closesChunked: head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nstop\r\n0\r\n\r\n"
            }
        }
    }

    @Test(
        "An early refusal reaches the caller at once, and the producer ends", arguments: Producer.allCases,
        Ending.allCases)
    func refusal(producer: Producer, ending: Ending) async throws {
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            _ = try connection.readHead()
            try connection.write(ending.answer)
            connection.waitUntilClosed()
        }
        let ended = Signal()
        let response = try await transport.exchange(
            .post, server.url + "/", body: producer.body(ended), timeouts: .none)
        #expect(response.status.code == 413)
        #expect(try await response.text() == "stop")
        if producer == .stuck || producer == .stuckWithLength { await ended.wait() }
        // Half a request went over that connection: nothing else does.
        let other = try MockServer.answering(.text("next"))
        #expect(try await transport.exchange(.get, other.url + "/").text() == "next")
    }

    @Test("An early refusal in two pieces, with a pause, also arrives complete", arguments: [Ending.keeps, .closes])
    func slowRefusal(ending: Ending) async throws {
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            _ = try connection.readHead()
            try connection.write(String(ending.answer.dropLast(4)))
            try connection.pause(50)
            try connection.write("st")
            try connection.pause(50)
            try connection.write("op")
            connection.waitUntilClosed()
        }
        let response = try await transport.exchange(
            .post, server.url + "/", body: Producer.stuck.body(Signal()), timeouts: .none)
        #expect(try await response.text() == "stop")
    }

    @Test("A producer that is cancelled is an error of the body, not a cancelled call")
    func cancelledProducer() async throws {
        let server = try MockServer.always(.status(.ok), to: .post)
        let body = RequestBody.stream {
            .init(Produced([Data(count: 1000)], then: CancellationError()))
        }
        let error = try #require(await transport.failure(.post, server.url + "/", body: body))
        #expect(error.reason == .encoding)
        #expect(error.underlying is CancellationError)
        expectTexts(error)
    }
}
