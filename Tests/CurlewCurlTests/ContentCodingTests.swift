// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// Content codings, decoded by the transport.
@Suite(.timeLimit(.minutes(1)))
struct ContentCodingTests {
    let transport = CurlTransport()

    @Test("A large raw body streams, keeps its fields, and its limit counts the received bytes")
    func rawStream() async throws {
        // Hardly compressible, so that what comes is large as well.
        var generator = SeededGenerator(seed: 7)
        let plain = Data((0..<300_000).map { _ in UInt8.random(in: 0...(.max), using: &generator) })
        let bytes = try await Program.encode(plain, "gzip")
        let server = try MockServer.always(MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bytes)))
        let response = try await transport.exchange(.get, server.url + "/") {
            $0.skipsContentDecoding = true
            $0.streaming = true
        }
        #expect(response.headers[.contentLength] == "\(bytes.count)")
        #expect(try await response.bytes() == bytes)
        let limits = Limits(responseBody: Int64(bytes.count - 1))
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.get, server.url + "/", limits: limits) { $0.skipsContentDecoding = true }
                .data()
        }
        #expect(error.reason == .limitExceeded(.responseBody))
    }

    @Test("A coding that breaks while the reader pauses is still an error")
    func brokenWhilePaused() async throws {
        var bytes = try await Program.encode(pattern(4_000_000), "gzip")
        bytes.replaceSubrange((bytes.count - 200)..<(bytes.count - 150), with: Data(repeating: 0xFF, count: 50))
        let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 16_384))
        let server = try MockServer.answering(MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bytes)))
        let response = try await transport.exchange(
            .get, server.url + "/", limits: Limits(decodedRatio: .max)
        ) { $0.streaming = true }
        let error = try await #require(throws: NetworkError.self) { try await response.bytes() }
        #expect(error.reason == .badResponse)
        expectTexts(error)
    }

    @Test("A small body that expands passes a slow reader whole, or ends as over the limit")
    func bomb() async throws {
        let size = 100_000_000
        let bytes = try await Program.encode(Data(count: size), "gzip")
        #expect(bytes.count < 200_000)
        let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 16_384))
        let server = try MockServer.answering(MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bytes)))
        let response = try await transport.exchange(
            .get, server.url + "/", limits: Limits(responseBody: Int64(size), decodedRatio: .max)
        ) { $0.streaming = true }
        var received = 0
        do {
            for try await chunk in response.body { received += chunk.count }
            #expect(received == size)
        } catch {
            #expect(NetworkError(error).reason == .limitExceeded(.responseBody))
        }
    }

    @Test(
        "A body that grows a hundredfold by decoding ends soon, gathered, streamed or saved",
        arguments: ["gathered", "streamed", "saved"], [false, true])
    func growth(way: String, isChunked: Bool) async throws {
        // Some 64 KB on the wire for 64 MB.
        let bytes = try await Program.encode(Data(count: 64_000_000), "gzip")
        let body: MockResponse.Body = isChunked ? .chunks([bytes]) : .data(bytes)
        let server = try MockServer.always(MockResponse(headers: [.contentEncoding: "gzip"], body: body))
        let folder = try TemporaryFolder()
        let client = APIClient.curl(server.url, .standard)
        let size = Locked(0)
        let error = await #expect(throws: NetworkError.self) {
            switch way {
            case "saved": _ = try await client.download(Request<Data>.get("/"), to: folder.path + "/file")
            case "gathered": _ = try await client.send(Request<Data>.get("/"))
            default:
                let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
                for try await chunk in response.body { size.withLock { $0 += chunk.count } }
            }
        }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(error?.detail.contains("100 times") == true, "\(error.map { "\($0)" } ?? "")")
        #expect(error?.hint?.contains("decodedRatio") == true)
        #expect(size.withLock { $0 } < 40_000_000)
        #expect(server.requests.count == 1)
    }

    @Test("A body may grow as far as the call allows, and raw it does not grow")
    func allowedGrowth() async throws {
        let size = 20_000_000
        let bytes = try await Program.encode(Data(count: size), "gzip")
        let server = try MockServer.always(MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bytes)))
        for ratio in [1100, Int.max] {
            let limits = Limits(decodedRatio: ratio)
            #expect(try await transport.exchange(.get, server.url + "/", limits: limits).data().count == size)
        }
        let raw = try await transport.exchange(.get, server.url + "/") { $0.skipsContentDecoding = true }
        #expect(try await raw.data() == bytes)
        // The first MiB is free, whatever it came from.
        let small = try await Program.encode(Data(count: 1 << 20), "gzip")
        server.on(.get, "/small", respond: MockResponse(headers: [.contentEncoding: "gzip"], body: .data(small)))
        let limits = Limits(decodedRatio: 1)
        #expect(try await transport.exchange(.get, server.url + "/small", limits: limits).data().count == 1 << 20)
    }
}
