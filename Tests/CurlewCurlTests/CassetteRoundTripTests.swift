// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(2)))
struct CassetteRoundTripTests {
    /// What of a response must be equal in a replay.
    struct Seen: Equatable {
        var status: HTTPStatus
        var headers: [String]
        var body: Data
        var version: HTTPVersion
        var reason: String?

        init(_ response: HTTPResponse) async throws {
            status = response.status
            headers = response.headers.map { "\($0.name.text): \($0.value)" }
            version = response.version
            reason = response.reasonPhrase
            body = try await response.data()
        }
    }

    @Test("A recording over libcurl is replayed identically: status, fields, body and version")
    func roundTrip() async throws {
        let server = try MockServer()
        server.on(.get, "/json") { _ in
            .json(text: #"{"a": [1, 2]}"#).with(headers: ["X-Two": "a, b", .date: "Mon, 23 Nov 2026 10:00:00 GMT"])
        }
        server.on(.get, "/chunks", respond: .chunks(["one", "two"]))
        server.on(.get, "/events") { _ in .gzipEvents(["id: 1\ndata: one", "id: 2\ndata: two"]) }
        server.on(.get, "/none", respond: .status(.noContent))
        server.on(.get, "/old", respond: .redirect(to: "/json"))
        server.on(.get, "/teapot") { _ in
            var response = MockResponse.text("short and stout", status: HTTPStatus(418))
            response.reason = "Short And Stout"
            return response
        }
        server.on(.get, "/cut", respond: .text("never whole").reset(at: .afterBytes(5)))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("trip-\(UUID().uuidString).har").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let paths = ["/json", "/chunks", "/events", "/none", "/teapot", "/json", "/old"]

        func seen(_ cassette: Cassette) async throws -> ([Seen], NetworkError?) {
            let pipeline: Pipeline = .standard
            let client = APIClient.testing(cassette, baseURL: try BaseURL(server.url), pipeline: pipeline)
            var all: [Seen] = []
            for path in paths {
                let call = Request<HTTPResponse>(.get, url: server.url + path)
                all.append(try await client.withResponse(to: call) { try await Seen($0) })
            }
            all.append(try await Seen(client.send(Request<HTTPResponse>(.head, "/json"))))
            var single = Request<HTTPResponse>(.get, "/cut")
            single.options.isIdempotent = false
            let cut = single
            let error = await #expect(throws: NetworkError.self) {
                try await client.withResponse(to: cut) { try await $0.data() }
            }
            return (all, error)
        }

        let live = try Cassette(path, mode: .recordNew, recording: CurlTransport())
        let (first, failure) = try await seen(live)
        try await live.finish()
        let count = server.requestCount
        let replay = try Cassette(path, mode: .replay)
        let (second, again) = try await seen(replay)
        #expect(first == second)
        #expect(failure?.reason == again?.reason && failure != nil)
        #expect(server.requestCount == count, "the replay does not use the network")
        try replay.verify()
    }
}
