// SPDX-License-Identifier: MIT

import Testing

/// Fields that belong to one connection, and `Host`: only the transport writes them.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionFieldTests {
    @Test(
        "Connection fields are refused with a hint, in any case, by every validating transport",
        arguments: [
            "Connection", "keep-alive", "PROXY-CONNECTION", "Proxy-Authorization", "TE", "Trailer", "upgrade",
            "HTTP2-Settings", "Transfer-Encoding", "Host",
        ])
    func refused(name: String) async throws {
        let mock = MockTransport.answering { _ in HTTPResponse() }
        let client = APIClient.mock(mock)
        do throws(NetworkError) {
            try await client.send(Request<Void>.get("/").header(HTTPField.Name(name), "hunter2"))
            Issue.record("\(name) was sent")
        } catch {
            #expect(error.reason == .invalidRequest)
            #expect(error.hint != nil)
            #expect(error.detail.contains(name))
            #expect(!"\(error)".contains("hunter2"))
        }
        #expect(mock.requests.isEmpty)
    }

    @Test("A reverse proxy passes on the fields that are left")
    func endToEnd() {
        let headers: HTTPHeaders = [
            "Accept": "a", .host: "evil.example", .connection: "close, X-Hop", "X-Hop": "1", "x-hop": "2",
            "TE": "trailers",
            .connection: "\tX-Forwarded-For ,", "X-Forwarded-For": "10.0.0.1", .contentLength: "3", "Upgrade": "h2c",
            "HTTP2-Settings": "x", "Keep-Alive": "1", "X-Kept": "1", "X-Kept": "2",
        ]
        #expect(headers.endToEnd.map { "\($0.name.text): \($0.value)" } == ["Accept: a", "X-Kept: 1", "X-Kept: 2"])
    }
}
