// SPDX-License-Identifier: MIT

import CurlewCookies
import Testing

/// Fields behind bodies, in both directions.
@Suite(.timeLimit(.minutes(1)))
struct TrailerTests {
    let transport = CurlTransport()

    private func stream(_ text: String) -> RequestBody {
        .stream { .init(Produced(text.utf8.map { Data([$0]) })) }
    }

    @Test("Typed calls have trailers beside the value, through the standard pipeline")
    func typed() async throws {
        let server = try MockServer.always(.chunks(["one", "two"]).with(trailers: ["X-Sum": "6", "X-Code": "secret"]))
        let fields = Redaction.Rules(secret: ["X-Code"])
        let client = APIClient.curl(server.url, .standard, configuration: APIClient.Configuration(fields: fields))
        let response = try await client.response(for: Request<String>.get("/"))
        #expect(response.value == "onetwo")
        #expect(response.trailers["X-Sum"] == "6")
        #expect(!"\(response.trailers)".contains("secret"))
        let streamed = try await client.withResponse(to: Request<String>.get("/")) { response in
            _ = try await response.data()
            return response.body.trailers
        }
        #expect(streamed["X-Sum"] == "6")
    }

    @Test("Trailers of a request follow its body, announced, and are made after it")
    func request() async throws {
        let server = try MockServer.always(.text("ok"), to: .post)
        let produced = Locked(0)
        let body = RequestBody.stream(replay: .always) {
            .init(
                AsyncStream { source in
                    for piece in ["one", "two"] {
                        produced.withLock { $0 += 1 }
                        source.yield(Data(piece.utf8))
                    }
                    source.finish()
                })
        }.trailing("X-Sum", "X-Other") { ["X-Sum": "\(produced.withLock { $0 })"] }
        for _ in 0..<2 {
            _ = try await transport.exchange(.post, server.url + "/", body: body).text()
            // What another request leaves behind must not reach this one.
            _ = try await transport.exchange(.post, server.url + "/", body: stream("x")).text()
            _ = try await transport.exchange(.post, server.url + "/", body: .bytes(Data("x".utf8))).text()
        }
        #expect(server.requests.map { $0.trailers["X-Sum"] } == ["2", nil, nil, "4", nil, nil])
        let names = "X-Sum, X-Other"
        #expect(server.requests.map { $0.headers["Trailer"] } == [names, nil, nil, names, nil, nil])
        #expect(server.requests.first?.body == Data("onetwo".utf8))
        #expect(server.connectionCount == 1)
    }

    @Test("An upload that waits for the server's 100 has its trailers too")
    func expecting() async throws {
        let server = try MockServer.always(.text("ok"), to: .put)
        let body = stream("abc").trailing("X-Sum") { ["X-Sum": "3"] }
        _ = try await transport.exchange(.put, server.url + "/", headers: ["Expect": "100-continue"], body: body).text()
        #expect(server.requests.first?.trailers["X-Sum"] == "3")
    }

    @Test(
        "A name that has to stand in the head is refused",
        arguments: [
            "Content-Length", "transfer-encoding", "Host", "Authorization", "Proxy-Authorization", "Set-Cookie",
            "Cookie", "Content-Type", "content-encoding", "Content-Range", "Trailer", "TE", "If-Match", "Range",
            "Cache-Control", "Expect", "Max-Forwards", "WWW-Authenticate", "a b", "",
        ])
    func forbidden(name: String) async throws {
        let server = try MockServer()
        let body = stream("abc").trailing(HTTPField.Name(name)) { [:] }
        let error = try #require(await transport.failure(.post, server.url + "/", body: body))
        #expect(error.reason == .invalidRequest)
        #expect(server.connectionCount == 0)
        expectTexts(error)
    }

    @Test("A body whose length is known has no trailers")
    func known() async throws {
        let bodies = [
            RequestBody.bytes(Data("a".utf8)), .empty,
            .stream(length: 1) { .init(AsyncStream { $0.finish() }) },
        ]
        for body in bodies {
            let error = await transport.failure(
                .post, "http://127.0.0.1:1/", body: body.trailing("X-Sum") { [:] })
            #expect(error?.reason == .invalidRequest)
        }
    }

    @Test("A trailer that was not announced, or cannot be made, ends the call and the request")
    func unannounced() async throws {
        struct Failure: Error {}
        let server = try MockServer.always(.text("ok"), to: .post)
        let bodies = [
            stream("abc").trailing("X-Sum") { ["X-Other": "1"] }, stream("abc").trailing("X-Sum") { throw Failure() },
            stream("abc").trailing("X-Sum") { ["X-Sum": "a\r\nb: c"] },
        ]
        for body in bodies {
            let error = try #require(await transport.failure(.post, server.url + "/", body: body))
            #expect(error.reason == .encoding)
            expectTexts(error)
        }
        #expect(server.requests.isEmpty)
    }

    @Test("With HTTP/2 trailers are a configuration error, with HTTP/1.1 they arrive")
    func versions() async throws {
        let nginx = try await Nginx.shared()
        let body = stream("abc").trailing("X-Sum") { ["X-Sum": "3"] }
        var configuration = nginx.configuration
        for version in [TransportConfiguration.HTTPVersionPolicy.automatic, .http2PriorKnowledge] {
            configuration.httpVersions = version
            let error = await CurlTransport(configuration: configuration)
                .failure(.put, nginx.secure() + "/upload/trailers.txt", body: body)
            #expect(error?.reason == .configuration)
        }
        configuration.httpVersions = .http1Only
        let response = try await CurlTransport(configuration: configuration)
            .exchange(.put, nginx.secure() + "/upload/trailers.txt", body: body)
        #expect(response.status.isSuccess)
        #expect(try Data(contentsOf: URL(fileURLWithPath: nginx.root + "/upload/trailers.txt")) == Data("abc".utf8))
    }

    @Test("Typed calls send trailers with a stream")
    func typedRequest() async throws {
        let server = try MockServer.always(.text("ok"), to: .post)
        let client = APIClient.curl(server.url)
        let content = RequestContent.stream { .init(AsyncStream { source in source.finish() }) }
            .trailing("X-Sum") { ["X-Sum": "0"] }
        _ = try await client.send(Request<String>.post("/", body: content))
        #expect(server.requests.first?.trailers["X-Sum"] == "0")
        await #expect(throws: NetworkError.self) {
            try await client.send(
                Request<String>.post("/", body: .text("known").trailing("X-Sum") { [:] }))
        }
    }
}
