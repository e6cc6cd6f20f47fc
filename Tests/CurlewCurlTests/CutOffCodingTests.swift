// SPDX-License-Identifier: MIT

import CurlewCaching
import Testing

@testable import CurlewCurl

/// Where codings end, and where they do not.
@Suite(.timeLimit(.minutes(1)))
struct CutOffCodingTests {
    let transport = CurlTransport()

    @Test("Several members of gzip are one body, and padding behind them is none")
    func members() async throws {
        let (one, two) = (pattern(5000), pattern(70_000))
        let bytes = try await Program.encode(one, "gzip") + Program.encode(two, "gzip")
        let server = try MockServer()
        for tail in [Data(), Data(count: 512)] {
            server.enqueue(MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bytes + tail)))
            #expect(try await transport.exchange(.get, server.url + "/").data() == one + two)
        }
    }

    @Test("Bytes that grow between two codings are bounded, also if they decode to nothing")
    func growthBetween() async throws {
        // A tiny member of gzip and 20 MB of zeros behind it, which gzip makes small.
        let inner = try await Program.encode(Data("tiny".utf8), "gzip") + Data(count: 20_000_000)
        let bytes = try await Program.encode(inner, "gzip")
        let server = try MockServer()
        let response = MockResponse(headers: [.contentEncoding: "gzip, gzip"], body: .data(bytes))
        server.enqueue(response)
        let error = await transport.failure(.get, server.url + "/", limits: Limits(decodedRatio: 100))
        #expect(error?.reason == .limitExceeded(.responseBody))
        server.enqueue(response)
        let trusting = try await transport.exchange(.get, server.url + "/", limits: Limits(decodedRatio: .max))
        #expect(try await trusting.data() == Data("tiny".utf8))
    }

    @Test("A request for a part offers no codings, and a part of a coded form is delivered as it is")
    func parts() async throws {
        let server = try MockServer()
        let bytes = try await Program.encode(pattern(5000), "gzip").prefix(100)
        server.enqueue(
            MockResponse(
                status: 206, headers: [.contentEncoding: "gzip", .contentRange: "bytes 0-99/900"],
                body: .data(Data(bytes))))
        let response = try await transport.exchange(.get, server.url + "/", headers: [.range: "bytes=0-99"])
        #expect(try await response.data() == Data(bytes))
        #expect(response.headers[.contentEncoding] == "gzip")
        #expect(server.requests.first?.headers[.acceptEncoding] == nil)
    }

    @Test("A body is decoded the same, however its bytes are cut and however slow its reader", arguments: 1...6)
    func anyCut(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var plain = pattern(400_000)
        for index in stride(from: 0, to: plain.count, by: 7) {
            plain[index] = UInt8.random(in: 0...255, using: &random)
        }
        let codings = [["gzip"], ["deflate"], ["deflate", "gzip"]][Int(seed) % 3]
        var bytes = plain
        for coding in codings { bytes = try await Program.encode(bytes, coding) }
        var chunks: [Data] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...(chunks.count < 20 ? 3 : 40_000), using: &random))
            chunks.append(Data(piece))
            rest = rest.dropFirst(piece.count)
        }
        let server = try MockServer()
        server.enqueue(
            MockResponse(
                headers: [.contentEncoding: codings.joined(separator: ", ")], body: .chunks(chunks)))
        let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 16_384))
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        var all = Data()
        for try await chunk in response.body {
            all += chunk
            for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
        }
        #expect(all == plain)
    }

    @Test(
        "A body that is cut off is an error in every coding, and is not kept",
        arguments: ["gzip", "deflate", "br", "zstd"], [false, true])
    func cutOffForGood(coding: String, streams: Bool) async throws {
        guard Self.isKnown(coding) else { return }
        let bytes = try await Self.coded(coding)
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n")
            try connection.write("Cache-Control: max-age=3600\r\n\r\n")
            try connection.write(bytes.dropLast(10))
        }
        let client = APIClient.curl(server.url, [.caching()])
        for _ in 0..<2 {
            let error = await #expect(throws: NetworkError.self) {
                let response = try await client.send(
                    Request<HTTPResponse>(.get, "/").options { $0.streaming = streams })
                _ = try await response.body.collect()
            }
            #expect(error?.reason == .badResponse && error?.detail.contains("truncated") == true)
        }
        #expect(server.connectionCount == 2)
    }

    @Test(
        "Every offered coding is decoded, whole and byte by byte",
        arguments: ["gzip", "deflate", "br", "zstd"])
    func offered(coding: String) async throws {
        guard Self.isKnown(coding) else { return }
        let bytes = try await Self.coded(coding)
        let server = try MockServer()
        for body in [MockResponse.Body.data(bytes), .chunks(bytes.map { Data([$0]) })] {
            server.enqueue(MockResponse(headers: [.contentEncoding: coding], body: body))
            let response = try await transport.exchange(.get, server.url + "/")
            #expect(try await response.data() == Self.plain)
            #expect(server.requests.last?.headers[.acceptEncoding]?.contains(coding) == true)
        }
    }

    private static let plain = Data((0..<120).map { "line \($0) of a text that is coded; " }.joined().utf8)

    private static func isKnown(_ coding: String) -> Bool { ContentCoding(coding)?.isAvailable == true }

    /// The text in a coding. Two of them have been made with their own tools.
    private static func coded(_ coding: String) async throws -> Data {
        switch coding {
        case "br": try #require(Data(base64Encoded: brotli))
        case "zstd": try #require(Data(base64Encoded: zstd))
        default: try await Program.encode(plain, coding)
        }
    }

    private static let brotli =
        "G4EPABwH5RY3iTtBM37JpFPSB8ytDMNiG8TsbU6C7JBhxA5AGh5KgkWWhw8Oufm5U5S100e99HEQev4p93AEQpFYIi"
        + "0jKzdDiSNAJJEp1DS0colFIJLIFGoaWrmkIhBJZAo1Da1cchGIJDKFmoZWLqUIRBKZQk1DK5e6CEQSmUJNQyuXpghE"
        + "EplCTUMrl7YIRBKZQk1DK5euCEQSmUJNQ/u5zmeFwWgyW6xtbOkaymA0mS3WNraLBw=="
    private static let zstd =
        "KLUv/WCCDr0FAMLKGhSgqcWAn1/u3zoAvDEikd29ualfwef/////v67ruq7ruq5TSimllFJCCCGEEEJod3d3d1dVVV"
        + "VVNTMzMzMTEREREfHu7u7uzszMzMzs//8TWk08+wADMSjCWY7DBAZzmIZgTnAK5dQhkgMJeKgRYHv/z7AzSgcRJAT/"
        + "nxCM8QMqkZQk6iqyoqomqmoKSU1RJSj0NDkBBgICAYGAgJtgGktVImlIdQSjFZVI5eXk5eRgwABsFQ=="
}
