// SPDX-License-Identifier: MIT

import CurlewCookies
import CurlewURLSession
import TestServers
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Fields in both directions, and what URLSession does to them.
@Suite(.timeLimit(.minutes(1)))
struct HeaderTests {
    private let transport = URLSessionTransport()

    @Test("Fields arrive; those of one name are joined as their kind is")
    func sent() async throws {
        let server = try MockServer.always(.text("ok"))
        let headers: HTTPHeaders = [
            "X-One": "1", "Cookie": "a=1", "X-Two": "2", "x-one": "3", "Cookie": "b=2", "Authorization": "Bearer t",
            "X-Empty": "", "User-Agent": "mine", "Accept-Language": "de", "Content-Length": "99",
        ]
        _ = try await transport.exchange(.get, server.url + "/", headers: headers).data()
        let got = try #require(server.requests.first).headers
        #expect(got["X-One"] == "1, 3")
        #expect(got[.cookie] == "a=1; b=2")
        #expect(got["X-Two"] == "2")
        #expect(got[.authorization] == "Bearer t")
        #expect(got["X-Empty"] == "")
        #expect(got[.userAgent] == "mine")
        #expect(got[.acceptLanguage] == "de")
        #expect(!got.contains(.contentLength))
    }

    @Test("Fields come sorted by name; cookies are separated")
    func received() async throws {
        let server = try MockServer()
        server.enqueue(
            .text("ok").with(headers: ["Z-Last": "z", "A-First": "a"]).changed {
                $0.headers.append(.setCookie, "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/")
                $0.headers.append(.setCookie, "b=2; HttpOnly")
                $0.headers.append("Vary", "A")
                $0.headers.append("Vary", "B")
            })
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(
            response.headers[values: .setCookie]
                == ["a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/", "b=2; HttpOnly"])
        #expect(response.headers["Vary"] == "A, B")
        let names = response.headers.map { $0.name.text.lowercased() }
        #expect(names == names.sorted())
    }

    @Test("A decoded body no longer claims to be encoded; a raw one is requested uncoded")
    func codings() async throws {
        let server = try MockServer()
        // "hello" in gzip.
        let zipped = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==") ?? Data()
        server.on(.get, "/") { request in
            guard request.headers[.acceptEncoding]?.contains("gzip") == true else { return .text("hello") }
            return .data(zipped, type: .text).with(headers: ["Content-Encoding": "gzip"])
        }
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(!response.headers.contains(.contentEncoding) && !response.headers.contains(.contentLength))
        #expect(response.body.declaredLength == nil || response.body.declaredLength == 5)
        #expect(try await response.text() == "hello")
        let raw = try await transport.exchange(.get, server.url + "/") { $0.skipsContentDecoding = true }
        #expect(raw.headers[.contentLength] == "5")
        #expect(server.requests.last?.headers[.acceptEncoding] == "identity")
    }

    @Test("The app's own configuration is used, without its policies")
    func configuration() async throws {
        let settings = URLSessionConfiguration.default
        settings.httpAdditionalHeaders = ["X-Everywhere": "yes"]
        let transport = URLSessionTransport(session: settings)
        let server = try MockServer()
        let policy: HTTPHeaders = ["Set-Cookie": "a=1", "Cache-Control": "max-age=1000"]
        server.on(.get, "/", respond: .text("ok").with(headers: policy))
        for _ in 0..<2 { _ = try await transport.exchange(.get, server.url + "/").data() }
        #expect(server.requests.count == 2)
        for request in server.requests {
            #expect(request.headers["X-Everywhere"] == "yes")
            #expect(!request.headers.contains(.cookie))
        }
        #expect(settings.urlCache != nil || settings.httpCookieStorage != nil)
    }

    /// A response to a credential that only the session knows must not be shared.
    @Test("The principal is unknown if the session adds a field that may be a credential")
    func addedCredential() throws {
        let request = try HTTPRequest(url: "https://api.example/")
        for (name, principal) in [("Authorization", Principal.unknown), ("Accept-Language", .anonymous)] {
            let settings = URLSessionConfiguration.ephemeral
            settings.httpAdditionalHeaders = [name: "x"]
            let transport = URLSessionTransport(session: settings)
            #expect(transport.principal(of: request, in: ExchangeContext()) == principal)
        }
    }
}

extension MockResponse {
    fileprivate func changed(_ change: (inout MockResponse) -> Void) -> MockResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
