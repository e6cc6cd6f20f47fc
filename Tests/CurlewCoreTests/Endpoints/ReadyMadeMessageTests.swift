// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import Testing

@Suite("Messages that are made already", .timeLimit(.minutes(1)))
struct ReadyMadeMessageTests {
    private let mock = MockTransport {
        $0.on(.post, "/v1/count", .json(text: "3"))
        $0.on(.get, "/v1/gone", .status(.gone))
    }

    @Test("they are typed calls: decoded, for nothing, or as they come")
    func typed() async throws {
        let client = APIClient.mock(mock)
        let message = try HTTPRequest(
            .post, url: "https://mock.test/v1/count?a=1", headers: [.contentType: "text/plain"],
            body: .bytes(Data("x".utf8)))
        #expect(try await client.send(Request<Int>(message)) == 3)
        try await client.send(Request<Void>(message))
        let gone = try HTTPRequest(.get, url: "https://mock.test/v1/gone")
        #expect(try await client.send(Request<HTTPResponse>(gone)).status == .gone)
        await #expect(throws: NetworkError(statusCode: 410)) { try await client.send(Request<Data>(gone)) }
        let sent = try #require(mock.requests.first)
        #expect(sent.request.target == "/v1/count?a=1" && sent.text == "x")
        #expect(sent.request.headers[.contentType] == "text/plain")
    }

    @Test("a description says whether there is a body")
    func description() throws {
        let empty = try HTTPRequest(.post, url: "https://mock.test/v1/count")
        let full = try HTTPRequest(.post, url: "https://mock.test/v1/count", body: .bytes(Data("x".utf8)))
        #expect("\(Request<Int>(empty).content)" == "no body")
        #expect("\(Request<Int>(full).content)" == "a body")
        #expect("\(Request<Int>(full))" == "HTTPRequest: POST, a body")
    }

    @Test("a completion receives them too")
    func completion() async throws {
        let message = try HTTPRequest(.post, url: "https://mock.test/v1/count")
        let answer = SharedResult<Int>()
        APIClient.mock(mock).send(Request<Int>(message)) { answer.finish($0.mapError { $0 as any Error }) }
        #expect(try await answer.wait() == 3)
    }
}
