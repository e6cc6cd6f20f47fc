// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for methods and request bodies.
enum RequestCases {
    static let all = withoutBody + withBody + bodies + framing + failures

    private static let withoutBody =
        ["GET", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"].map { method in
            ConformanceCase(
                "\(method) without a body goes out as it is, without fields about one", .requests, .message,
                rule: "RFC 9110 §8.6"
            ) { trial in
                let server = try trial.server(answering: .status(.noContent))
                let response = try await trial.exchange(HTTPMethod(rawValue: method), server.url + "/thing?q=1")
                try trial.equal(response.status, .noContent, "the status")
                let request = try trial.only(server)
                try trial.equal(request.method.rawValue, method, "the method")
                try trial.equal(request.target, "/thing?q=1", "the target")
                try trial.equal(request.headers[.contentLength], nil, "Content-Length")
                try trial.equal(request.headers[.transferEncoding], nil, "Transfer-Encoding")
                try trial.expect(request.body.isEmpty, "the request has a body")
            }
        }
        + ["POST", "PUT", "PATCH"].map { method in
            ConformanceCase(
                "\(method) without a body says that it has none", .requests, rule: "RFC 9110 §8.6"
            ) { trial in
                let server = try trial.server(answering: .status(.noContent))
                _ = try await trial.exchange(HTTPMethod(rawValue: method), server.url + "/")
                let request = try trial.only(server)
                try trial.equal(request.headers[values: .contentLength], ["0"], "Content-Length")
                try trial.equal(request.headers[.transferEncoding], nil, "Transfer-Encoding")
            }
        }
        + [
            ConformanceCase(
                "HEAD gets the head that GET would get, and no body", .requests, .message, rule: "RFC 9110 §9.3.2"
            ) { trial in
                let server = try trial.server()
                server.on(.get, "/", respond: .text("hello"))
                for _ in 0..<2 {
                    let response = try await trial.exchange(.head, server.url + "/")
                    try trial.equal(response.headers[.contentLength], "5", "Content-Length")
                    try trial.equal(try await response.chunksJoined(), Data(), "the body")
                }
                try trial.equal(server.requests.first?.headers[.contentLength], nil, "Content-Length of the request")
                try await trial.expectText(trial.exchange(.get, server.url + "/"), "hello")
            }
        ]

    private static let withBody = ["POST", "PUT", "PATCH", "DELETE", "GET", "QUERY", "LOCK"].map { method in
        ConformanceCase("\(method) carries a body", .requests, .message, rule: "RFC 9110 §6.4") { trial in
            let server = try trial.server(answering: .text("ok"))
            let body = RequestBody.bytes(Data("hello".utf8))
            try await trial.expectText(
                trial.exchange(HTTPMethod(rawValue: method), server.url + "/", body: body), "ok")
            let request = try trial.only(server)
            try trial.equal(request.method.rawValue, method, "the method")
            try trial.equal(request.text, "hello", "the body")
        }
    }

    private static let bodies = BodyRecipe.allCases.flatMap { recipe in
        [0, 1, 65_535, 65_536, 65_537, 400_000].map { size in
            ConformanceCase(
                "a body of \(size) bytes from \(recipe.rawValue) arrives complete", .requests, .message,
                rule: "Transport: sends exactly the message"
            ) { trial in
                let server = try trial.server(answering: .status(.noContent))
                let bytes = MockResponse.pattern(0..<size)
                let response = try await trial.exchange(.post, server.url + "/", body: recipe.body(bytes, trial))
                try trial.equal(response.status, .noContent, "the status")
                try trial.equal(try trial.only(server).body, bytes, "the body")
            }
        }
    }

    private static let framing =
        BodyRecipe.allCases.map { recipe in
            ConformanceCase(
                "a body from \(recipe.rawValue) is framed by \(recipe.hasLength ? "its length" : "chunks")", .requests,
                rule: "RFC 9112 §6.1, §6.2"
            ) { trial in
                for method: HTTPMethod in [.put, .post, .delete] {
                    let server = try trial.server(answering: .status(.noContent))
                    let body = try recipe.body(MockResponse.pattern(0..<1000), trial)
                    _ = try await trial.exchange(method, server.url + "/", body: body)
                    let headers = try trial.only(server).headers
                    let (length, coding) = recipe.hasLength ? (["1000"], []) : ([], ["chunked"])
                    try trial.equal(headers[values: .contentLength], length, "Content-Length of \(method)")
                    try trial.equal(headers[values: .transferEncoding], coding, "Transfer-Encoding of \(method)")
                }
            }
        }
        + [
            ConformanceCase(
                "framing that the caller writes is not sent", .requests, rule: "RFC 9112 §6.3"
            ) { trial in
                let server = try trial.server(answering: .status(.ok))
                _ = try await trial.exchange(
                    .post, server.url + "/", headers: [.contentLength: "999"],
                    body: .bytes(Data("abc".utf8)))
                let request = try trial.only(server)
                try trial.equal(request.headers[values: .contentLength], ["3"], "Content-Length")
                try trial.equal(request.headers[.transferEncoding], nil, "Transfer-Encoding")
                try trial.equal(request.text, "abc", "the body")
            },
            ConformanceCase(
                "a large body does not wait for 100 (Continue) unasked", .requests, rule: "RFC 9110 §10.1.1"
            ) { trial in
                let server = try trial.server(answering: .status(.ok))
                let body = RequestBody.bytes(Data(count: 2_000_000))
                _ = try await trial.exchange(.post, server.url + "/", body: body)
                try trial.equal(try trial.only(server).headers["Expect"], nil, "Expect")
            },
        ]

    private static let failures =
        [
            ConformanceCase(
                "a file that cannot be opened fails before anything is sent", .requests, .message,
                rule: "RequestBody.file(_:)"
            ) { trial in
                let server = try trial.server()
                for path in [try trial.file(Data()) + "-missing", FileManager.default.temporaryDirectory.path] {
                    let error = try await trial.expectFailure(.invalidRequest) {
                        _ = try await trial.exchange(.post, server.url + "/", body: .file(path))
                    }
                    try trial.expect(error.detail.contains(path), "the error does not name the file")
                }
                try trial.equal(server.requestCount, 0, "the number of requests")
            },
            ConformanceCase(
                "a producer that fails ends the exchange, and its error stays visible", .requests,
                rule: "RequestBody.stream(length:replay:make:)"
            ) { trial in
                let server = try trial.server()
                server.on(.post, "/", respond: .status(.ok))
                for failsAtOnce in [false, true] {
                    let error = try await trial.expectFailure(.encoding) {
                        let body = RequestBody.stream {
                            if failsAtOnce { throw OwnError() }
                            return .init(Produced([Data(count: 100_000)], then: OwnError()))
                        }
                        _ = try await trial.exchange(.post, server.url + "/", body: body)
                    }
                    try trial.expect(error.underlying is OwnError, "the producer's own error is not the underlying one")
                    try trial.equal(server.requestCount, 0, "the number of complete requests")
                }
            },
        ]
        + [4, 6, 0, 100_000].map { produced in
            ConformanceCase(
                "a stream that promises 5 bytes and produces \(produced) is an error", .requests, .message,
                rule: "RequestBody.stream(length:replay:make:)"
            ) { trial in
                let server = try trial.server()
                server.on(.post, "/", respond: .status(.ok))
                try await trial.expectFailure(.encoding) {
                    let body = RequestBody.stream(length: 5) { .init(Produced([Data(count: produced)])) }
                    _ = try await trial.exchange(.post, server.url + "/", body: body)
                }
                try trial.equal(server.requestCount, 0, "the number of complete requests")
            }
        }

    private struct OwnError: Error {}
}

extension ConformanceTrial {
    /// Returns the only request that the server received. Throws if there is none, or more than one.
    func only(_ server: MockServer) throws -> RecordedRequest {
        let requests = server.requests
        try equal(server.requestCount, 1, "the number of requests")
        return requests[0]
    }
}

/// A kind of request body. All kinds deliver the same bytes.
enum BodyRecipe: String, CaseIterable, Sendable {
    case bytes, file
    case parts = "pieces of memory and of a file"
    case stream = "a stream with a length"
    case chunkedStream = "a stream"

    var hasLength: Bool { self != .chunkedStream }

    func body(_ bytes: Data, _ trial: ConformanceTrial) throws -> RequestBody {
        switch self {
        case .bytes: .bytes(bytes)
        case .file: .file(try trial.file(bytes))
        case .parts: .parts(try pieces(of: bytes, trial))
        case .stream: .stream(length: Int64(bytes.count)) { .init(Produced(bytes, by: 10_000)) }
        case .chunkedStream: .stream { .init(Produced(bytes, by: 10_000)) }
        }
    }

    /// The middle is a range of a file whose other bytes must not be sent.
    private func pieces(of bytes: Data, _ trial: ConformanceTrial) throws -> [RequestBody.Part] {
        let (start, end) = (bytes.count / 3, bytes.count * 2 / 3)
        let path = try trial.file(Data("before".utf8) + bytes[start..<end] + Data("after".utf8))
        return [
            .bytes(bytes[..<start]), .file(path: path, offset: 6, length: Int64(end - start)), .bytes(Data()),
            .bytes(bytes[end...]),
        ]
    }
}
