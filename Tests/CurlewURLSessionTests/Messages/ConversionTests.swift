// SPDX-License-Identifier: MIT

import CurlewCookies
import TestServers
import Testing

@testable import CurlewURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Messages of Foundation and ours, one as the other.
@Suite(.timeLimit(.minutes(1)))
struct ConversionTests {
    @Test("A request survives conversion to URLRequest and back")
    func request() async throws {
        let original = try HTTPRequest(
            .put, url: "https://a.example:8443/films/1?q=a%20b", headers: ["Accept": "text/plain", "X-Id": "7"],
            body: .bytes(Data("body".utf8)))
        let message = try URLRequest(original)
        #expect(message.url?.absoluteString == original.urlString)
        #expect(message.httpMethod == "PUT")
        #expect(message.value(forHTTPHeaderField: "x-id") == "7")
        #expect(message.httpBody == Data("body".utf8))
        let back = try HTTPRequest(message)
        #expect(back.urlString == original.urlString && back.method == .put)
        #expect(back.headers == original.headers)
        #expect(back.body.data == Data("body".utf8))
    }

    @Test("A body stream is read once, while it is sent")
    func stream() async throws {
        var message = URLRequest(url: try #require(URL(string: "http://a.example/")))
        message.httpMethod = "POST"
        message.httpBodyStream = InputStream(data: pattern(200_000))
        let request = try HTTPRequest(message)
        #expect(!request.body.canReplay)
        guard case .stream(_, _, let make) = request.body.kind else {
            Issue.record("no stream")
            return
        }
        let next = try make().makeNext()
        var all = Data()
        while let chunk = try await next() { all += chunk }
        #expect(all == pattern(200_000))
    }

    @Test("A URLRequest that is no HTTP request is refused", arguments: ["ftp://a.example/", "file:///etc", "nothing"])
    func refused(url: String) throws {
        let message = URLRequest(url: try #require(URL(string: url)))
        #expect { try HTTPRequest(message) } throws: { ($0 as? NetworkError)?.reason == .invalidRequest }
    }

    @Test("A response survives conversion to HTTPURLResponse and back")
    func response() async throws {
        let original = HTTPResponse(
            status: .notFound, headers: ["Content-Type": "text/plain", "Vary": "A", "vary": "B"],
            body: ResponseBody(Data("gone".utf8)), url: "https://a.example/x")
        let foreign = try #require(HTTPURLResponse(original))
        #expect(foreign.statusCode == 404)
        #expect(foreign.url?.absoluteString == "https://a.example/x")
        #expect(foreign.value(forHTTPHeaderField: "Vary") == "A, B")
        let back = HTTPResponse(foreign, body: Data("gone".utf8))
        #expect(back.status == .notFound && back.headers["vary"] == "A, B")
        #expect(back.headers[.contentType] == "text/plain")
        #expect(try await back.text() == "gone")
        #expect(HTTPURLResponse(HTTPResponse()) == nil)
    }

    @Test(
        "Joined cookies are separated, and only where one begins",
        arguments: [
            ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1", "b=2"]),
            (
                "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/, b=2",
                [
                    "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/", "b=2",
                ]
            ),
            ("a=x, y; Path=/", ["a=x, y; Path=/"]), ("a=1, , b=2", ["a=1, ", "b=2"]), ("", [""]), (",", [","]),
            ("a=1, b c=2", ["a=1, b c=2"]),
        ])
    func cookies(joined: String, apart: [String]) {
        #expect(ResponseFields.cookies(joined) == apart)
    }

    @Test("Fields that could begin a line are cleaned, and invalid names dropped")
    func hostileFields() {
        let headers = ResponseFields.headers([("X-A", "a\r\nb\u{0}c"), ("X B", "1"), ("", "2"), ("X-É", "3")])
        #expect(headers.count == 1)
        #expect(headers["X-A"] == "a  b c")
    }

    @Test("Equal repeated lengths are one length; conflicting and malformed ones are refused")
    func lengths() throws {
        func length(_ text: String) throws -> Int64? { try ResponseFields.length(["Content-Length": text]) }
        #expect(try length("12") == 12)
        #expect(try length("12, 12") == 12)
        #expect(try ResponseFields.length(["Content-Length": "x", "Transfer-Encoding": "chunked"]) == nil)
        #expect(try ResponseFields.length([:]) == nil)
        for bad in ["", "-1", "1, 2", "x", "99999999999999999999", "1,"] {
            #expect { try length(bad) } throws: { ($0 as? NetworkError)?.reason == .badResponse }
        }
    }

    @Test("A field that would forge another is refused")
    func forgedFields() throws {
        let request = try HTTPRequest(.get, url: "http://a.example/", headers: ["X-A": "b\r\nX-C: d"])
        #expect { try URLRequest(request) } throws: { ($0 as? NetworkError)?.reason == .invalidRequest }
    }

    @Test("A method in other letters is another method, which URLRequest cannot send")
    func methods() throws {
        let request = try HTTPRequest(HTTPMethod(rawValue: "get"), url: "http://a.example/")
        #expect { try URLRequest(request) } throws: { ($0 as? NetworkError)?.reason == .invalidRequest }
    }

    @Test("Decoded and unknown codings are distinguished")
    func codings() {
        for known in ["gzip", "GZIP , br", "deflate", "identity"] { #expect(ResponseFields.isDecoded(known)) }
        for unknown in ["aws-chunked", "gzip, exi"] { #expect(!ResponseFields.isDecoded(unknown)) }
        #expect(!ResponseFields.isDecoded(nil))
    }
}

/// Ready-made requests through a client.
@Suite(.timeLimit(.minutes(1)))
struct URLRequestCallTests {
    @Test("send(urlRequest:) returns every response, data(for:) only successes")
    func calls() async throws {
        let server = try MockServer()
        server.on(.post, "/echo") { .data($0.body) }
        let client = APIClient.testing(
            URLSessionTransport(), baseURL: BaseURL(stringLiteral: server.url), pipeline: .standard,
            headers: ["X-Client": "here"])
        var message = URLRequest(url: try #require(URL(string: server.url + "/echo?a=1")))
        message.httpMethod = "POST"
        message.httpBody = Data("hello".utf8)
        message.setValue("text/x-own", forHTTPHeaderField: "Content-Type")
        #expect(try await client.data(for: message) == Data("hello".utf8))
        let sent = try #require(server.requests.first)
        #expect(sent.target == "/echo?a=1")
        #expect(sent.headers[.contentType] == "text/x-own")
        #expect(sent.headers["X-Client"] == "here")

        let missing = URLRequest(url: try #require(URL(string: server.url + "/missing")))
        #expect(try await client.send(urlRequest: missing).status == .notFound)
        await #expect { try await client.data(for: missing) } throws: { ($0 as? NetworkError)?.statusCode == 404 }
        let none = URLRequest(url: try #require(URL(string: "mailto:a@b.example")))
        await #expect { try await client.send(urlRequest: none) } throws: {
            ($0 as? NetworkError)?.reason == .invalidRequest
        }
    }

    @Test("A request for another origin gets none of the client's fields")
    func foreign() async throws {
        let server = try MockServer.always(.text("ok"))
        let client = APIClient.testing(
            URLSessionTransport(), baseURL: "https://home.example", pipeline: .standard,
            headers: ["Authorization": "Bearer secret"])
        _ = try await client.data(for: URLRequest(url: try #require(URL(string: server.url + "/"))))
        #expect(server.requests.first?.headers.contains(.authorization) == false)
    }

    private let mock = MockTransport {
        $0.on(.get, "/users/1", .json(text: #"{"id": 1}"#))
        $0.on(.get, "/gone", .status(.gone))
    }

    private func message(_ text: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: text)))
    }

    private struct User: Decodable, Equatable { let id: Int }

    @Test("A ready-made request is decoded, as the named or the expected type")
    func decoded() async throws {
        let client = APIClient.mock(mock)
        let user: User = try await client.send(urlRequest: try message("https://mock.test/users/1"))
        #expect(user == User(id: 1))
        #expect(try await client.send(urlRequest: try message("https://mock.test/users/1"), as: User.self) == user)
        #expect(try await client.response(for: Request<User>(try message("https://mock.test/users/1"))).value == user)
        try await client.send(Request<Void>(try message("https://mock.test/users/1")))
        await #expect(throws: NetworkError(statusCode: 410)) {
            try await client.send(urlRequest: try message("https://mock.test/gone"), as: User.self)
        }
    }

    @Test("Errors of Foundation and responses of URLSession become the errors that they represent")
    func errors() throws {
        #expect(NetworkError(URLError(.notConnectedToInternet)) == NetworkError(.unreachable))
        #expect(NetworkError(URLError(.notConnectedToInternet)).isOffline)
        #expect(NetworkError(URLError(.cancelled)).isCancelled)
        #expect(NetworkError(URLError(.timedOut)).isTimeout)
        #expect(NetworkError(URLError(.timedOut)).underlying is URLError)
        let url = try #require(URL(string: "https://mock.test/"))
        let answer = try #require(
            HTTPURLResponse(url: url, statusCode: 429, httpVersion: nil, headerFields: ["Retry-After": "3"]))
        let error = NetworkError(answer, body: Data("later".utf8))
        #expect(error == NetworkError(statusCode: 429) && error.retryAfter == .seconds(3))
        #expect(error.response?.body == Data("later".utf8))
    }
}
