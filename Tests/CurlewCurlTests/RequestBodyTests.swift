// SPDX-License-Identifier: MIT

import Testing

/// Methods and bodies, as the server sees them.
@Suite(.timeLimit(.minutes(1)))
struct RequestBodyTests {
    let transport = CurlTransport()

    @Test("A HEAD with a body is refused: libcurl would wait for content that never comes")
    func headWithBody() async throws {
        let server = try MockServer.always(.text("never sent"))
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(
                .head, server.url + "/", body: .bytes(Data("x".utf8)), timeouts: Timeouts(idle: .seconds(1)))
        }
        #expect(error.reason == .invalidRequest)
        expectTexts(error)
        #expect(server.requestCount == 0)
    }
}

/// The kinds of body recipe, all giving the same bytes.
enum BodySource: CaseIterable, Sendable {
    case bytes, file, parts, stream, chunkedStream

    func body(of size: Int, in folder: TemporaryFolder) throws -> RequestBody {
        let bytes = pattern(size)
        switch self {
        case .bytes: return .bytes(bytes)
        case .file: return .file(try folder.file("body", bytes))
        case .parts:
            // The middle is a range of a file whose other bytes must not be sent.
            let (start, end) = (size / 3, size * 2 / 3)
            let path = try folder.file("part", Data("before".utf8) + bytes[start..<end] + Data("after".utf8))
            return .parts([
                .bytes(bytes[..<start]), .file(path: path, offset: 6, length: Int64(end - start)),
                .bytes(Data()), .bytes(bytes[end...]),
            ])
        case .stream: return .stream(length: Int64(size)) { .init(Produced(bytes, by: 10_000)) }
        case .chunkedStream: return .stream { .init(Produced(bytes, by: 10_000)) }
        }
    }
}
