// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct BaseURLTests {
    @Test(arguments: [
        ("https://x.example", "/users", "https://x.example/users"),
        ("https://x.example/", "/users", "https://x.example/users"),
        ("https://x.example/v1", "users", "https://x.example/v1/users"),
        ("https://x.example/v1/", "/users", "https://x.example/v1/users"),
        ("https://x.example/v1", "", "https://x.example/v1"),
        ("https://x.example", "", "https://x.example/"),
        ("http://127.0.0.1:8080/a b", "/x", "http://127.0.0.1:8080/a%20b/x"),
        ("https://[::1]:444", "/x", "https://[::1]:444/x"),
    ])
    func pathsAreAppendedNeverResolved(base: String, path: String, url: String) throws {
        let client = APIClient.testing(RecordingTransport(), baseURL: try BaseURL(base))
        #expect(try client.request(for: Request<Data>(.get, RequestPath(path))).urlString == url)
    }

    @Test(arguments: [
        "", "users", "/v1", "ftp://x.example", "https://", "https://x.example:99999", "https://x y.example",
        "https://user:secret@x.example", "https://x.example?key=secret", "https://x.example#top",
    ])
    func aBadLiteralNeverTrapsAndEverySendNamesIt(text: String) async throws {
        let base = BaseURL(stringLiteral: text)
        #expect(base.origin == nil)
        let transport = RecordingTransport()
        let client = APIClient.testing(transport, baseURL: base)
        for _ in 0..<2 {
            let error = try #require(await client.failure(.person(id: 1)))
            #expect(error.reason == .invalidRequest)
            #expect(error.detail.contains("base URL"))
            #expect(!error.description.contains("secret"))
            #expect(error.hint != nil)
        }
        #expect(transport.requests.isEmpty)
        #expect(client.problems.count == 1)
        #expect(throws: NetworkError.self) { try BaseURL(text) }
    }

    @Test func foundationURLsAndInterpolationsWork() throws {
        let url = try #require(URL(string: "https://x.example/v2"))
        #expect(BaseURL(url) == "https://x.example/v2")
        let port = 8080
        #expect(("http://localhost:\(port)" as BaseURL).origin?.port == 8080)
        #expect(("https://X.example/v1/" as BaseURL).description == "https://x.example/v1")
    }

    @Test func withoutABaseURLARelativePathSaysWhatToDo() async throws {
        let client = APIClient.testing(RecordingTransport(), baseURL: nil)
        let error = try #require(await client.failure(.person(id: 1)))
        #expect(error.reason == .configuration)
        #expect(error.hint?.contains("get(url:)") == true)
        #expect(try await client.send(.get(url: "https://x.example/1")) == Person.ann)
    }
}
