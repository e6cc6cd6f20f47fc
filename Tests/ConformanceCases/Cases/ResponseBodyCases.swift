// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import CurlewTransfers

/// Cases for response bodies of every size, their chunks, and downloads to files.
enum ResponseBodyCases {
    static let all = chunks + sizes + slow + reading + files

    private static let chunks = [1, 2, 7, 1000, 16_384, 65_537].map { size in
        ConformanceCase(
            "a body in chunks of \(size) arrives complete", .responseBodies, .message, rule: "RFC 9112 §7.1"
        ) { trial in
            let bytes = MockResponse.pattern(0..<(size < 100 ? 300 : 200_000))
            let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
            let server = try trial.server()
            server.on(.get, "/", respond: MockResponse(body: .chunks(pieces)))
            for streaming in [false, true] {
                let response = try await trial.exchange(.get, server.url + "/") { $0.streaming = streaming }
                try trial.equal(try await response.chunksJoined(), bytes, "the body")
            }
        }
    }

    private static let sizes =
        [0, 1, 65_535, 65_536, 65_537, 3_000_000].map { size in
            ConformanceCase(
                "a body of \(size) bytes with its length arrives complete", .responseBodies, .message,
                rule: "RFC 9112 §6.2"
            ) { trial in
                let server = try trial.server(answering: .generated(bytes: size), .generated(bytes: size))
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(response.headers[.contentLength], "\(size)", "Content-Length")
                try trial.equal(try await response.data(), MockResponse.pattern(0..<size), "the body")
                let streamed = try await trial.exchange(.get, server.url + "/") { $0.streaming = true }
                try trial.equal(try await streamed.chunksJoined(), MockResponse.pattern(0..<size), "the streamed body")
            }
        }
        + [0, 10, 200_000].map { size in
            ConformanceCase(
                "a body of \(size) bytes without framing ends with the connection", .responseBodies,
                rule: "RFC 9112 §6.3, rule 8"
            ) { trial in
                let server = try trial.server(answering: .generated(bytes: size).framed(as: .untilClose))
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(try await response.data(), MockResponse.pattern(0..<size), "the body")
            }
        }

    private static let slow = [
        ConformanceCase(
            "a response that drips in byte by byte, head and all, arrives complete", .responseBodies,
            rule: "RFC 9112 §2.2"
        ) { trial in
            let drip = { (response: MockResponse) in
                response.dripping(bytesPerChunk: 1, every: .microseconds(200), from: .head)
            }
            let server = try trial.server(answering: drip(.text("slow")), drip(.chunks(["slow", "er"])))
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "slow")
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "slower")
        },
        ConformanceCase(
            "with streaming asked for, the response comes with its head", .responseBodies,
            rule: "RequestOptions.streaming"
        ) { trial in
            let server = try trial.server(answering: .text("never").stalled(at: .afterHead))
            let response = try await trial.exchange(.get, server.url + "/") { $0.streaming = true }
            try trial.equal(response.status, .ok, "the status")
            response.body.cancel()
        },
        ConformanceCase(
            "chunks are given as they come, and none is empty", .responseBodies, rule: "ResponseBody"
        ) { trial in
            let server = try trial.server(
                answering: .chunks(["one", "two"]).interrupted(by: .stall, at: .afterBytes(3)))
            let response = try await trial.exchange(.get, server.url + "/") { $0.streaming = true }
            var received = Data()
            for try await chunk in response.body {
                try trial.expect(!chunk.isEmpty, "a chunk is empty")
                received += chunk
                if received.count >= 3 { break }
            }
            try trial.equal(received, Data("one".utf8), "what came before the stall")
        },
    ]

    private static let reading = [10, 200_000].map { size in
        ConformanceCase(
            "a body of \(size) bytes is read once; a second reading throws", .responseBodies, .message,
            rule: "ResponseBody"
        ) { trial in
            let server = try trial.server(answering: .generated(bytes: size))
            let response = try await trial.exchange(.get, server.url + "/")
            try trial.equal(try await response.data().count, size, "the number of bytes")
            try await trial.expectFailure(.invalidRequest) { _ = try await response.data() }
            try await trial.expectFailure(.invalidRequest) { _ = try await response.chunksJoined() }
        }
    }

    private static let files = [
        ConformanceCase(
            "a response that goes to a file is complete", .responseBodies, .message, rule: "APIClient.download"
        ) { trial in
            let server = try trial.server()
            let client = APIClient(baseURL: nil, pipeline: [], transport: try trial.transport())
            let path = try trial.file(Data("what was there".utf8))
            for (size, chunked) in [(100, false), (3_000_000, false), (3_000_000, true), (0, false)] {
                server.enqueue(.generated(bytes: size, chunked: chunked))
                let answer = try await client.download(
                    Request<Data>.get(url: server.url + "/"), to: path,
                    options: FileDownload.Options(existing: .replace))
                try trial.equal(answer.value.byteCount, Int64(size), "the number of bytes")
                let file = try Data(contentsOf: URL(fileURLWithPath: path))
                try trial.expect(file == MockResponse.pattern(0..<size), "the file has other bytes")
            }
        }
    ]
}
