// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(2)))
struct CassetteServerTests {
    /// A session that takes nothing from its environment.
    static var session: URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        return URLSession(configuration: configuration)
    }

    @Test("URLSession meets a cassette over a server: order, redirects, bodies, and reports")
    func session() async throws {
        let folder = try CassetteFolder()
        let mock = MockTransport {
            $0.on(.get, "/start", .status(302, headers: [.location: "https://api.test/users?page=1"]))
            $0.on(.get, "/users") { call in .json(text: #"{"page": \#(call.query("page") ?? "0")}"#) }
            $0.on(.post, "/users") { call in .json(text: #"{"name": "Ada"}"#, status: 201) }
        }
        let path = try await record(folder, mock) { client in
            _ = try await client.send(Request<HTTPResponse>(.get, "/start"))
            for page in ["1", "2"] {
                _ = try await client.send(Request<String>.get("/users", query: ["page": "\(page)"]))
            }
            _ = try await client.send(Request<String>.post("/users", body: .json(["name": "Ada", "age": 36])))
        }
        let cassette = try Cassette(path, mode: .replay)
        let server = try MockServer(replaying: cassette)
        let session = Self.session
        defer { session.invalidateAndCancel() }
        func get(_ path: String) async throws -> (String, Int) {
            let url = try #require(URL(string: server.url + path))
            let (data, response) = try await session.data(from: url)
            return (String(decoding: data, as: UTF8.self), (response as? HTTPURLResponse)?.statusCode ?? 0)
        }
        #expect(try await get("/start") == (#"{"page": 1}"#, 200), "the redirect leads to the server")
        #expect(try await get("/users?page=2") == (#"{"page": 2}"#, 200))

        var request = URLRequest(url: try #require(URL(string: server.url + "/users")))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"age": 36, "name": "Ada"}"#.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await session.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(String(decoding: data, as: UTF8.self) == #"{"name": "Ada"}"#)
        try cassette.verify()

        let (text, status) = try await get("/user?page=3")
        #expect(status == 404)
        #expect(text.contains(#"path segment 1 is "user", not "users""#), "\(text)")
        #expect(server.unmatchedRequests.count == 1 && cassette.problems.count == 1)
    }

    @Test("A recorded failure ends the connection of a foreign client")
    func failure() async throws {
        let folder = try CassetteFolder()
        let path = try await record(
            folder, MockTransport { $0.fail(with: NetworkError(.connectionLost(.requestMayHaveArrived))) }
        ) {
            _ = try? await $0.send(Request<String>.get("/x"))
        }
        let server = try MockServer(replaying: try Cassette(path, mode: .replay))
        let session = Self.session
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.url + "/x"))
        await #expect(throws: URLError.self) { try await session.data(from: url) }
    }

    // What Foundation does on Linux. Apple's documentation says the same of its own.
    #if os(Linux)
    @Test("A session takes stubs by the protocol classes of its configuration, without global state")
    func protocolClasses() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [StubbedProtocol.self]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://stub.invalid/x"))
        let (data, _) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "stubbed")
        let other = Self.session
        defer { other.invalidateAndCancel() }
        await #expect(throws: URLError.self) { try await other.data(from: url) }
    }
    #endif
}

#if os(Linux)
/// The stub of the article.
private final class StubbedProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "stub.invalid" }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("stubbed".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
#endif
