// SPDX-License-Identifier: MIT

import Testing

/// HTTP/2 servers that refuse, leave and break off.
@Suite(.timeLimit(.minutes(1)))
struct HTTP2FaultTests {
    private func start() async throws -> (H2Server, CurlTransport) {
        let nginx = try await Nginx.shared()
        return (
            try await onThread { try H2Server(nginx.certificates) }, CurlTransport(configuration: nginx.configuration)
        )
    }

    @Test("A POST that the server refused or left is not sent again by the transport", arguments: ["refuse", "goaway"])
    func refusedPost(kind: String) async throws {
        for body in [RequestBody.empty, .bytes(Data(count: 10))] {
            let (server, transport) = try await start()
            let path = server.url + "/\(kind)/\(body.length ?? 0)"
            let error = try await #require(throws: NetworkError.self) {
                try await transport.exchange(.post, path, body: body)
            }
            #expect(error.isRetryable && error.label.hasPrefix("connectionLost"), "\(error)")
            // On a new connection a refusal is certain: the server has not looked at it, and a policy may send it
            // again. The end of the connection right behind a GOAWAY may hide that one.
            try await LibraryDeviation.refusedStream.mayDiffer {
                if kind == "refuse" { #expect(error.reason == .connectionLost(.requestNotSent), "\(error)") }
            }
            expectTexts(error)
            #expect(try await transport.exchange(.get, path).text() == "2")
            // On one that was used before, libcurl does not distinguish a refusal from a lost connection.
            let (method, other) = (HTTPMethod.post, server.url + "/\(kind)/again")
            let later = try await #require(throws: NetworkError.self) {
                try await transport.exchange(method, other, body: body)
            }
            #expect(later.isRetryable && later.label.hasPrefix("connectionLost"), "\(later)")
        }
    }

    @Test(
        "A connection error ends all its calls at once, or repeats those that may be repeated",
        .seesBrokenConnections, arguments: ["garbage", "oversize", "stray"], [HTTPMethod.post, .get])
    func brokenConnection(kind: String, method: HTTPMethod) async throws {
        let (server, transport) = try await start()
        #expect(try await transport.exchange(.get, server.url + "/ok").status == .ok)
        // Without timeouts, only the error can end the calls.
        let calls = (0..<20).map { index in
            Task { try await transport.exchange(method, server.url + "/silent/\(index)", timeouts: .none).text() }
        }
        #expect(await eventually { transport.snapshot.active == 20 })
        let offender = Task { try await transport.exchange(method, server.url + "/\(kind)", timeouts: .none).text() }
        for call in calls + [offender] {
            switch await outcome(call) {
            case .success(let text): #expect(text == "2" && method == .get)
            case .failure(let error):
                #expect([.badResponse, .connectionLost(.requestMayHaveArrived)].contains(error.reason), "\(error)")
            }
        }
        #expect(try await transport.exchange(.get, server.url + "/ok").text() == "2")
    }

    @Test("A stream that the server breaks off ends no other call of its connection")
    func brokenStreams() async throws {
        let (server, transport) = try await start()
        #expect(try await transport.exchange(.get, server.url + "/ok").status == .ok)
        let calls = (0..<5).map { index in
            Task { try await transport.exchange(.post, server.url + "/silent/\(index)", timeouts: .none).text() }
        }
        #expect(await eventually { transport.snapshot.active == 5 })
        for round in 0..<5 {
            await #expect(throws: NetworkError.self) {
                try await transport.exchange(.post, server.url + "/break/\(round)").data()
            }
            let response = try await transport.exchange(.get, server.url + "/ok/\(round)")
            #expect(response.metrics.reusedConnection == true)
        }
        #expect(await eventually { transport.snapshot.active == 5 })
        for call in calls {
            call.cancel()
            #expect(await outcome(call).reason == .cancelled)
        }
    }

    @Test("A GET that a GOAWAY has left out is sent again, by the transport or by the policy", arguments: [0, 1])
    func leftOut(uses: Int) async throws {
        let (server, transport) = try await start()
        let client = APIClient.testing(transport, baseURL: try BaseURL(server.url), pipeline: .standard)
        for _ in 0..<uses { try await client.send(.get("/ok")) }
        #expect(try await client.send(Request<String>.get("/goaway")) == "2")
    }
}
