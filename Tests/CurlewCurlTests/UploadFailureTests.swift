// SPDX-License-Identifier: MIT

import Testing

/// Bodies that cannot be produced, and servers that do not wait for the end of one.
@Suite(.timeLimit(.minutes(1)))
struct UploadFailureTests {
    let transport = CurlTransport()

    @Test(
        "A file that cannot be sent fails before anything is sent", arguments: ["missing", "folder", "pipe", "short"])
    func badFile(kind: String) async throws {
        let server = try MockServer()
        let folder = try TemporaryFolder()
        let path = folder.path + "/" + kind
        var body = RequestBody.file(path)
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "short":
            body = .parts([.file(path: try folder.file(kind, "123"), offset: 1, length: 3)])
        default: break
        }
        let error = try #require(await transport.failure(.post, server.url + "/", body: body))
        #expect(error.reason == .invalidRequest)
        #expect(error.detail.contains(path))
        expectTexts(error)
        #expect(server.connectionCount == 0)
    }

    @Test("A file that shrinks during the upload ends the exchange, and no complete request arrives")
    func shrinkingFile() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("big", pattern(8_000_000))
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            _ = try connection.readHead()
            #expect(truncate(path, 1000) == 0)
            while true { _ = try connection.read(upTo: 65_536) }
        }
        let error = try #require(await transport.failure(.put, server.url + "/", body: .file(path)))
        #expect(error.reason == .encoding)
        expectTexts(error)
    }

    struct OwnError: Error {}

    @Test("Bytes beyond the declared length are an error also when they come late", arguments: [10, 1])
    func lateSurplus(length: Int) async throws {
        let server = try MockServer.always(.status(.ok), to: .post)
        let chunks = [Data(count: length), Data(count: 7)]
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(
                .post, server.url + "/", body: .stream(length: Int64(length)) { .init(Produced(chunks)) },
                timeouts: Timeouts(firstByte: .seconds(5), idle: .seconds(5)))
        }
        #expect(error.reason == .encoding)
        #expect(server.requestCount == 0)
    }
}
