// SPDX-License-Identifier: MIT

import CurlewCaching
import Testing

/// The cache over a real server that compresses.
@Suite(.timeLimit(.minutes(1)))
struct NginxCacheTests {
    @Test("A response that nginx compressed is validated by one request, although its tags change")
    func compressed() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        let client = APIClient.testing(transport, baseURL: nil, pipeline: [.caching()])
        let request = Request<HTTPResponse>(.get, url: nginx.plain + "/text.txt")
        let first = try await client.send(request)
        #expect(first.headers[.eTag]?.hasPrefix("W/") == true, "it was not compressed: \(first.headers)")
        let text = try await first.text()
        let asking = Request<HTTPResponse>(.get, url: nginx.plain + "/text.txt").header("Cache-Control", "no-cache")
        for _ in 0..<3 {
            let again = try await client.send(asking)
            #expect(again.served == .revalidated, "\(again.cacheStatus)")
            #expect(try await again.text() == text && again.status == .ok)
        }
        // Each call was one request.
        #expect(await eventually { transport.snapshot.completed == 4 })
    }
}
