// SPDX-License-Identifier: MIT

#if os(Linux)
import Testing

@testable import CurlewCurl

/// Trailer lines as libcurl delivers them: one by one, or several at once after a pause.
@Suite(.timeLimit(.minutes(1)))
struct TrailerLineTests {
    @Test(
        "Each trailer line is one field, however libcurl delivers the lines",
        arguments: [
            ["X-Sum: 6\r\n", "X-Kind: a/b\r\n", "\r\n"], ["X-Sum: 6\r\nX-Kind: a/b\r\n\r\n"],
            ["X-Sum: 6\r\nX-Kind: a/b\r\n", "\r\n"], ["X-Sum: 6\nX-Kind: a/b\n\n"],
        ])
    func lines(deliveries: [String]) {
        var head = ResponseHead(limits: .standard)
        func receive(_ text: String) {
            let isAccepted = Array(text.utf8).withUnsafeBytes { head.receive($0) }
            #expect(isAccepted)
        }
        for line in ["HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n", "\r\n"] { receive(line) }
        for delivery in deliveries { receive(delivery) }
        #expect(head.trailers == ["X-Sum": "6", "X-Kind": "a/b"])
        #expect(head.headers == ["Transfer-Encoding": "chunked"])
    }
}
#endif
