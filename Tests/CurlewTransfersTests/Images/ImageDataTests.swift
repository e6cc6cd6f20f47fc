// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ImageDataTests {
    private static func client(_ bytes: Data, type: String? = "image/png") -> (APIClient, RecordingTransport) {
        let transport = RecordingTransport { _, _ in
            var response = HTTPResponse(status: .ok, headers: [:], body: ResponseBody(bytes))
            if let type { response.headers[.contentType] = type }
            return response
        }
        return (APIClient.testing(transport), transport)
    }

    private static func bomb(_ width: UInt32, _ height: UInt32) -> Data {
        func four(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        return Data([0x89] + Array("PNG\r\n\u{1A}\n".utf8) + four(13) + Array("IHDR".utf8) + four(width) + four(height))
    }

    @Test("An image has its bytes, its real format and its size", arguments: SampleImages.all)
    func images(sample: SampleImages.Sample) async throws {
        let (client, transport) = Self.client(sample.bytes, type: "application/octet-stream")
        let image = try await client.send(.image("/a"))
        #expect(image.bytes == sample.bytes)
        #expect(image.mediaType.essence == sample.mediaType)
        #expect(image.width == sample.width && image.height == sample.height)
        #expect(image == (try ImageData(sample.bytes)))
        #expect("\(image)" == "\(sample.mediaType), \(sample.width) × \(sample.height), \(sample.bytes.count) bytes")
        #expect(transport.requests.first?.headers[.accept] == "image/*")
    }

    @Test("An image is requested by URL, by path and by endpoint")
    func kinds() async throws {
        struct Avatar: Endpoint {
            typealias Response = ImageData
            let path: RequestPath = "/avatar"
        }
        let (client, transport) = Self.client(SampleImages.all[0].bytes)
        _ = try await client.send(.image(url: "https://cdn.example/a.png"))
        _ = try await client.send(.image("/b", query: ["s": "64"], headers: [.accept: "image/png"]))
        _ = try await client.send(Avatar())
        #expect(
            transport.requests.map(\.urlString) == [
                "https://cdn.example/a.png", "https://api.example/v1/b?s=64", "https://api.example/v1/avatar",
            ])
        #expect(transport.requests[1].headers[.accept] == "image/png")
    }

    @Test(
        "Data that is no image throws .decoding and says what it is",
        arguments: [
            ("<!DOCTYPE html><p>Sign in", "text/html", "The server sent text/html", "login page"),
            ("", "image/png", "body is empty", "Supported"), ("GIF89a", "image/gif", "47 49 46", "Supported"),
            ("\u{1}", nil, "The content, of 1 bytes", "Supported"),
        ] as [(String, String?, String, String)])
    func others(text: String, type: String?, detail: String, hint: String) async throws {
        let (client, _) = Self.client(Data(text.utf8), type: type)
        let error = await #expect(throws: NetworkError.self) { _ = try await client.send(.image("/a")) }
        #expect(error?.reason == .decoding)
        #expect(error?.detail.contains(detail) == true, "\(String(describing: error?.detail))")
        #expect(error?.hint?.contains(hint) == true)
        #expect(error?.response?.status == .ok)
    }

    @Test("An image of more pixels than the limit is refused")
    func limits() async throws {
        for (width, height, limit, isAllowed) in [
            (10_000, 10_000, ImageData.defaultPixelLimit, true), (10_001, 10_000, ImageData.defaultPixelLimit, false),
            (0x7FFF_FFFF, 0x7FFF_FFFF, Int.max, true), (0x7FFF_FFFF, 0x7FFF_FFFF, ImageData.defaultPixelLimit, false),
            (1, 1, 0, false), (1, 1, -1, false), (1, 1, 1, true),
        ] as [(UInt32, UInt32, Int, Bool)] {
            let (client, _) = Self.client(Self.bomb(width, height))
            if isAllowed {
                _ = try await client.send(.image("/a", pixelLimit: limit))
            } else {
                let error = await client.failure(.image("/a", pixelLimit: limit))
                #expect(error?.reason == .decoding && error?.detail.contains("limit") == true)
            }
        }
    }
}
