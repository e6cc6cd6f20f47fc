// SPDX-License-Identifier: MIT

import Testing

/// Response bodies: framing, the small and the streamed way, reading once.
@Suite(.timeLimit(.minutes(1)))
struct ResponseBodyTests {
    let transport = CurlTransport()

    @Test(
        "Up to the threshold a body comes with the response, beyond it streams",
        arguments: [4999, 5000, 5001, 0, 1], [true, false])
    func threshold(size: Int, chunked: Bool) async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(smallBody: 5000))
        // The last byte comes only when the test has seen what it wants to see.
        let maySend = Signal()
        let server = try RawServer { connection in
            _ = try connection.readHead()
            let framing = chunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
            var body = pattern(size)
            if chunked, size > 0 { body = Data("\(String(size, radix: 16))\r\n".utf8) + body + Data("\r\n".utf8) }
            if chunked { body += Data("0\r\n\r\n".utf8) }
            try connection.write(Data("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n".utf8) + body.dropLast())
            maySend.block()
            try connection.write(body.suffix(1))
        }
        if size <= 5000 { maySend.fire() }
        let response = try await transport.exchange(.get, server.url + "/")
        maySend.fire()
        #expect(response.body.bufferedData?.count == (size <= 5000 ? size : nil))
        #expect(response.body.declaredLength == (chunked && size > 5000 ? nil : Int64(size)))
        #expect(try await response.data() == pattern(size))
    }
}
