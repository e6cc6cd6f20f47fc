// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@testable import CurlewSampleAPI

@Suite(.timeLimit(.minutes(1)))
struct FilesTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    @Test(
        "A download has the size and the checksum that its head says", arguments: [0, 1, 16_064, 300_001],
        [true, false])
    func download(bytes: Int, isChunked: Bool) async throws {
        let request = Request<Data>.get("/files/guide.bin", query: ["bytes": bytes, "chunked": isChunked])
        let checksum = try await sample.client.withResponse(to: request) { response in
            #expect(response.body.declaredLength == (isChunked ? nil : Int64(bytes)))
            #expect(response.headers[.contentDisposition] == "attachment; filename=\"guide.bin\"")
            var checksum = CRC32()
            var count = 0
            for try await chunk in response.body {
                checksum.update(chunk)
                count += chunk.count
            }
            #expect(count == bytes)
            #expect(response.headers["X-Checksum-CRC32"] == checksum.hexadecimal)
            return checksum
        }
        #expect(checksum.value != 0 || bytes == 0)
    }

    @Test(
        "A size or name that cannot be gets 400",
        arguments: [("a.bin", "-1"), ("a.bin", "67108865"), ("a b", "1"), ("a\"", "1"), ("é", "1")])
    func refused(name: String, bytes: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.get("/files/\(name)", query: ["bytes": bytes]))
        }
        #expect(error?.statusCode == 400)
    }

    @Test("The message about a bad name names every character that a good one may have")
    func names() async throws {
        try await sample.client.send(.get("/files/a-b_c.7", query: ["bytes": 1]))
        let error = await #expect(throws: NetworkError.self) { try await sample.client.send(.get("/files/a+b")) }
        #expect(error?.body(as: JSONValue.self)?["message"].string?.contains("dots, dashes and underscores") == true)
    }

    @Test("After stop no server responds")
    func stop() async throws {
        try await sample.client.send(.get("/"))
        sample.api.stop()
        sample.api.stop()
        let error = await #expect(throws: NetworkError.self) { try await sample.client.send(.get("/")) }
        #expect(error?.reason == .unreachable)
    }
}
