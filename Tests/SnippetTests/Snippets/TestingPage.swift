// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct TestingPage {
    @Test func withoutANetwork() async throws {
        let client = APIClient.mock {
            // by the type that is sent
            $0.on(GetUser.self) { endpoint in User(id: endpoint.id, firstName: "Ada") }
            // by path
            $0.on(.get, "/users/:id/orders") { call in #"[{"number": \#(call.parameters["id"] ?? "0")}]"# }
            // JSON text, or Data
            $0.on(GetFilm.self) { _ in #"{"id": "m", "title": "Metropolis", "year": 1927}"# }
            $0.on(RateFilm.self, .status(204))  // a response, the same each time
            $0.on(.get, "/me") { $0.headers[.authorization] == nil ? .status(401) : .json(text: "{}") }
        }
        #expect(try await client.send(GetUser(id: 1)).firstName == "Ada")
        #expect(client.recordedCalls.map(\.path) == ["/users/1"])

        #expect(try await client.send(Request<[Order]>.get("/users/7/orders")).first?.number == 7)
        #expect(try await client.send(GetFilm(id: "m")).year == 1927)
        try await client.send(RateFilm(id: "m", rating: Rating(stars: 5)))
    }

    @Test func failures() async throws {
        let mock = MockTransport()
        mock.fail(GetUser.self, .once, with: NetworkError(.unreachable))
        mock.fail(.post, "/orders", .call(2), with: NetworkError(.connectionLost(.requestMayHaveArrived)))
        mock.fail(.first(3), with: NetworkError(statusCode: 503, headers: [.retryAfter: "1"]))
        mock.on(GetFilm.self, delay: .seconds(2)) { Film(id: $0.id, title: "Metropolis", year: 1927) }

        let client = APIClient.mock(mock)
        let error = await #expect(throws: NetworkError.self) { try await client.send(.orders) }
        #expect(error?.retryAfter == .seconds(1))
    }

    @Test func time() async throws {
        let mock = MockTransport()
        mock.on(GetFilm.self, delay: .seconds(2)) { Film(id: $0.id, title: "Metropolis", year: 1927) }

        let clock = ManualClock()
        var configuration = APIClient.Configuration()
        configuration.time = clock
        let client = APIClient.mock(mock, configuration: configuration)

        async let film = client.send(GetFilm(id: "metropolis"))  // waits for 2 s
        try await clock.waitForSleepers(1)  // until it does; 10 s at most
        clock.advance(by: .seconds(2))  // and now it goes on
        #expect(try await film.title == "Metropolis")
    }

    @Test func aRealServer() async throws {
        let server = try MockServer()
        server.on(.get, "/users/:id") { _ in .json(text: #"{"id": 1, "firstName": "Ada"}"#) }
        // the next request
        server.enqueue(.text("never whole").interrupted(by: .reset, at: .afterBytes(5)))

        let client = APIClient(baseURL: try BaseURL(server.url))
        let response = try await client.response(for: .user(id: 1))
        #expect(response.value.firstName == "Ada")
        #expect(response.attempts.count == 2)
    }

    @Test func scriptedStreams() async throws {
        let server = try MockServer()
        server.on(.get, "/news") { request in
            let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
            return .events { stream in
                for number in (last + 1)...10 { try await stream.send("news \(number)", id: "\(number)") }
            }
            .truncated(after: last == 0 ? 100 : 1000)  // cut within an event
        }
        server.on(.get, "/chat") { _ in
            .webSocket(subprotocols: ["chat.v1"], compresses: true) { peer in
                while let message = try await peer.next() { try peer.send(message) }
            }
        }

        var options = EventStream.Options()
        options.retryDelay = .milliseconds(1)
        let client = APIClient(baseURL: try BaseURL(server.url))
        var events = client.events(.get("/news"), options: options).makeAsyncIterator()
        for number in 1...10 { #expect(try await events.next()?.id == "\(number)") }
        #expect(server.requestCount == 2)
    }
}
