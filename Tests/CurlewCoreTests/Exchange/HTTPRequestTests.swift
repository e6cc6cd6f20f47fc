// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct HTTPRequestTests {
    @Test("A URL becomes origin and target; invalid characters are encoded, a fragment is dropped")
    func parts() throws {
        let request = try HTTPRequest(url: "https://API.example.com:8443/a b?q=é#top")
        #expect("\(request.origin)" == "https://api.example.com:8443")
        #expect(request.target == "/a%20b?q=%C3%A9")
        #expect(request.urlString == "https://api.example.com:8443/a%20b?q=%C3%A9")
        #expect(request.url?.absoluteString == request.urlString)
        #expect(try HTTPRequest(url: "http://a.test").target == "/")
    }

    @Test(
        "Text that is no absolute http URL is refused, and no secret of it is repeated",
        arguments: [
            "", "/users", "ftp://a.test/", "https://", "https://a b.test/", "https://ada:hunter2@a.test/",
            "https://a.test:99999/", "https://a.test/\nx", "a.test/x?token=hunter2",
        ])
    func refused(url: String) {
        let error = #expect(throws: NetworkError.self) { try HTTPRequest(url: url) }
        #expect(error?.reason == .invalidRequest)
        #expect(error?.detail.isEmpty == false)
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.description.contains("\nx") == false)
    }

    @Test("Query items are appended and encoded on both sides")
    func query() throws {
        var request = try HTTPRequest(url: "https://a.test/x")
        request.appendQuery("a b", "1&2=3")
        #expect(request.target == "/x?a%20b=1%262%3D3")
        request.appendQuery("a b", "+")
        #expect(request.target == "/x?a%20b=1%262%3D3&a%20b=%2B")
        var bare = try HTTPRequest(url: "https://a.test/x?")
        bare.appendQuery("a", "1")
        #expect(bare.target == "/x?a=1")
    }

    @Test("Pointing a request elsewhere keeps the rest, under the rules of making one")
    func setURL() throws {
        var request = try HTTPRequest(.post, url: "https://a.test/x", headers: [.accept: "text/html"])
        try request.setURL("http://b.test/y")
        #expect("\(request)" == "POST http://b.test/y")
        #expect(request.headers[.accept] == "text/html")
        #expect(throws: NetworkError.self) { try request.setURL("b.test") }
        #expect("\(request)" == "POST http://b.test/y")
    }

    @Test("A request with a broken header or method cannot be sent")
    func validation() throws {
        var request = try HTTPRequest(url: "https://a.test/")
        try request.validate()
        request.headers["X-Name"] = "a\r\nInjected: yes"
        let error = #expect(throws: NetworkError.self) { try request.validate() }
        #expect(error?.reason == .invalidRequest)
        #expect(error?.request?.url == "https://a.test/")
        #expect(error?.description.contains("Injected") == false)

        let method = try HTTPRequest("GET /x", url: "https://a.test/")
        #expect(throws: NetworkError.self) { try method.validate() }
    }

    @Test("The description has no secrets")
    func description() throws {
        let request = try HTTPRequest(.get, url: "https://a.test/x?api_key=hunter2&page=1")
        #expect("\(request)" == "GET https://a.test/x?api_key=REDACTED&page=1")
    }
}
