// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import ConformanceCases
import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import CurlewURLSession
import TestServers
import Testing

/// Questions that only a Mac can answer: the answers are a part of its report (Scripts/lib/mac_report.py).
@Suite(.timeLimit(.minutes(1)))
struct AppleQuestionsTests {
    private func client(_ tls: TransportConfiguration.TLS = TransportConfiguration.TLS()) -> APIClient {
        let transport = URLSessionTransport(configuration: TransportConfiguration(tls: tls))
        return APIClient(baseURL: nil, pipeline: [], transport: transport)
    }

    @Test("A request that bypasses the system's cache has no field for that, or the one of RFC 9111")
    func noCache() async throws {
        let server = try MockServer()
        server.on(.get, "/") { .text($0.headers[.cacheControl] ?? "none") }
        let field = try await client().send(Request<String>.get(url: server.url + "/"))
        print("answer: no-cache: Cache-Control: \(field)")
        #expect(["none", "no-cache"].contains(field))
    }

    @Test("A body in zstd arrives decoded without Content-Encoding, or unchanged with it")
    func zstd() async throws {
        // A frame of zstd (RFC 8878 §3.1) with one raw block.
        let frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0]) + Data("hello".utf8)
        let server = try MockServer()
        var reply = MockResponse.data(frame)
        reply.headers[.contentEncoding] = "zstd"
        server.enqueue(reply)
        let response = try await client().send(Request<HTTPResponse>(.get, url: server.url + "/"))
        let (body, coding) = (try await response.data(), response.headers[.contentEncoding])
        print("answer: zstd: \(body == frame ? "unchanged" : "decoded"), Content-Encoding: \(coding ?? "none")")
        #expect(body == frame && coding == "zstd" || body == Data("hello".utf8) && coding == nil)
    }

    #if canImport(Darwin)
    @Test("A pinned host never uses the connection of another host")
    func coalescing() async throws {
        let addresses = try await ConformanceServers.shared().environment.addresses
        guard let url = addresses[.secure], let authority = addresses[.authority] else {
            return print("left out: the question of shared connections needs nginx and openssl")
        }
        let wrong = ["a", "b"].map { "sha256//" + Data(repeating: $0.utf8.first ?? 0, count: 32).base64EncodedString() }
        let pins = TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: wrong)
        let client = client(TransportConfiguration.TLS(trustedRoots: .file(authority), pins: [pins]))
        let first = Request<HTTPResponse>(.get, url: url.replacing("localhost", with: "127.0.0.1") + "/empty")
        #expect(try await client.send(first).status == .noContent)
        let error = await #expect(throws: NetworkError.self) {
            _ = try await client.send(Request<HTTPResponse>(.get, url: url + "/empty"))
        }
        print("answer: coalescing: the pinned host \(error == nil ? "was reached without its pins" : "was refused")")
        #expect(error?.reason == .secureConnectionFailed(.pinMismatch))
    }
    #endif
}
#endif
