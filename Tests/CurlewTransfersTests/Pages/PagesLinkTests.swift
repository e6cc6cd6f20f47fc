// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewTransfers
import Testing

/// Where a link to the next page may lead, and what is sent there.
@Suite(.timeLimit(.minutes(1)))
struct PagesLinkTests {
    /// Requests the pages of a list whose page at the key leads to the value.
    private func follow(
        _ links: KeyValuePairs<String, String>, base: BaseURL = "https://api.example/v1",
        first: Request<[Int]> = Request<[Int]>.get("/list").header("X-Own", "mine").header("Accept-Language", "de")
    ) async -> (requests: [HTTPRequest], error: NetworkError?) {
        let table = Dictionary(links.map { ($0.key, $0.value) }) { first, _ in first }
        let transport = RecordingTransport { request, _ in
            var response = HTTPResponse.answer("[1]")
            if let next = table[request.urlString] { response.headers.append(.link, "<\(next)>; rel=next") }
            response.url = request.urlString
            return response
        }
        var configuration = APIClient.Configuration()
        configuration.headers = ["X-Client": "home"]
        let client = APIClient(
            baseURL: base, pipeline: [.bearer { "t0ken" }], transport: transport, configuration: configuration
        ).with(query: ["key": "k"])
        let error = await failure { () async throws(NetworkError) in
            var iterator = client.pages(first, next: .link).makeAsyncIterator()
            while try await iterator.next() != nil {}
        }
        return (transport.requests, error)
    }

    private let start = "https://api.example/v1/list?key=k"

    @Test("A link to the own origin gets everything of the first request but the client's items")
    func sameOrigin() async throws {
        let (requests, error) = await follow([start: "?page=2", "https://api.example/v1/list?page=2": "/v2/list#top"])
        #expect(error == nil)
        #expect(
            requests.map(\.urlString) == [
                start, "https://api.example/v1/list?page=2", "https://api.example/v2/list",
            ])
        for request in requests {
            #expect(request.method == .get && request.headers["X-Own"] == "mine")
            #expect(request.headers["X-Client"] == "home" && request.headers[.authorization] == "Bearer t0ken")
        }
    }

    @Test("A link to another origin carries neither credentials nor fields that are not harmless")
    func otherOrigin() async throws {
        for target in ["https://other.example/list", "//api.example:8443/list", "https://sub.api.example/list"] {
            let (requests, error) = await follow([start: target])
            let request = try #require(requests.last)
            #expect(error == nil && requests.count == 2)
            #expect(request.headers[.authorization] == nil && request.headers["X-Own"] == nil)
            #expect(request.headers["X-Client"] == nil && request.headers["Accept-Language"] == "de")
        }
    }

    @Test("Links that must not be followed end the list after the page that has them")
    func refused() async throws {
        for target in [
            "http://api.example/v1/list?page=2", "http://other.example/", "ftp://api.example/", "https://", "//",
            "https://user:pass@api.example/list", "javascript:alert(1)", "https://api.example:99999/",
        ] {
            let (requests, error) = await follow([start: target])
            #expect(requests.count == 1 && error?.reason == .refused(by: .pages), "\(target)")
            #expect("\(String(describing: error))".utf8.firstRange(of: "user:pass".utf8) == nil)
        }
        // Another origin must not choose what is requested with credentials.
        let (requests, error) = await follow([start: "https://o.example/a", "https://o.example/a": start])
        #expect(requests.count == 2 && error?.reason == .refused(by: .pages))
        // Credentials of http are also sent to https at the same host.
        let upgraded = await follow(
            ["http://localhost/list?key=k": "https://o.example/a", "https://o.example/a": "https://localhost/b"],
            base: "http://localhost")
        #expect(upgraded.requests.count == 2 && upgraded.error?.reason == .refused(by: .pages))
        let stays = await follow([start: "https://o.example/a", "https://o.example/a": "/b"])
        #expect(stays.error == nil && stays.requests.count == 3)
        let plain = await follow(
            ["http://localhost/list?key=k": "https://localhost/b"], base: "http://localhost")
        #expect(plain.error == nil, "\(String(describing: plain.error))")
        #expect(plain.requests.count == 2 && plain.requests.last?.headers["X-Own"] == nil)
    }

    @Test("A position that leads to a refused link is refused when it is used later")
    func storedRefusal() async throws {
        let transport = RecordingTransport { request, _ in
            var response = HTTPResponse.answer("[1]")
            response.headers.append(.link, "<http://api.example/2>; rel=next")
            response.url = request.urlString
            return response
        }
        let client = APIClient.testing(transport)
        var iterator = client.pages(.list, next: .link).makeAsyncIterator()
        let page = try #require(try await iterator.next())
        let later = client.pages(.list, next: .link, from: page.next)
        let error = await failure { () async throws(NetworkError) in
            var iterator = later.makeAsyncIterator()
            _ = try await iterator.next()
        }
        #expect(error?.reason == .refused(by: .pages) && transport.requests.count == 1)
    }

    @Test("A URL in the page is followed like a link")
    func urlInPage() async throws {
        let client = APIClient.mock { mock in
            mock.onAny { call in
                let page = Int(call.query["page"] ?? "1") ?? 0
                let next = page < 3 ? #""https://mock.test/films?page=\#(page + 1)""# : page == 3 ? #""""# : "null"
                return .json(text: #"{"films": [\#(page)], "next": \#(next)}"#)
            }
        }
        var found: [Int] = []
        for try await film in client.pages(.films, next: .link(\.next)).items(\.films) { found.append(film) }
        #expect(found == [1, 2, 3])
    }

    @Test("A POST whose response has a link continues with GET and without a body")
    func post() async throws {
        let first = Request<[Int]>.post("/list", json: ["a": 1])
        let (requests, error) = await follow([start: "?page=2"], first: first)
        #expect(error == nil && requests.map(\.method) == [.post, .get])
        #expect(requests.last?.body.isEmpty == true && requests.last?.headers[.contentType] == nil)
    }
}
