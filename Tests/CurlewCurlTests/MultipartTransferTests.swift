// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// Multipart in both directions over connections, with a real server for ranges.
@Suite(.timeLimit(.minutes(1)))
struct MultipartTransferTests {
    @Test("The ranges of a file arrive as parts, over HTTP/1.1 and HTTP/2", arguments: [false, true])
    func ranges(isSecure: Bool) async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        let wanted = [0..<1, 100_000..<2_100_000, 5..<70_000, 2_999_997..<3_000_000]
        let response = try await transport.exchange(
            .get, (isSecure ? nginx.secure() : nginx.plain) + "/body.bin",
            headers: [
                "Range": "bytes=" + wanted.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ", ")
            ]
        ) { $0.streaming = true }
        #expect(response.status == .partialContent)
        #expect(response.mediaType?.essence == "multipart/byteranges")
        var found: [Range<Int>] = []
        for try await part in try response.parts() {
            let range = try #require(part.headers[.contentRange].flatMap { ContentRange($0) })
            let bytes = Int(range.bytes.lowerBound)..<Int(range.bytes.upperBound)
            found.append(bytes)
            // The second part is skipped in the middle.
            if found.count == 2 {
                var chunks = part.body.makeAsyncIterator()
                #expect(try await chunks.next()?.isEmpty == false)
            } else {
                #expect(try await part.body.collect() == MockResponse.pattern(bytes))
            }
        }
        #expect(found == wanted)
    }
}
