// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewObservability

@Suite(.timeLimit(.minutes(1)))
struct LoggingInterceptorTests {
    typealias Level = LogEntry.Level

    /// Keeps what is logged.
    final class Log: Sendable {
        private let written = Locked<[LogEntry]>([])

        var entries: [LogEntry] { written.withLock { $0 } }
        var text: String { entries.map { "\($0)\n" }.joined() }

        func write(_ entry: LogEntry) { written.withLock { $0.append(entry) } }
    }

    let log = Log()
    let clock = ManualClock()

    /// What is logged of one exchange, with the call's number as `N`.
    func logged(
        _ level: Level, _ request: HTTPRequest, redaction: Redaction = .standard, bodyLimit: Int = 4096,
        answer: @escaping @Sendable () throws -> HTTPResponse = { .status(204) }
    ) async throws -> String {
        let logging = LoggingInterceptor(level, redaction: redaction, bodyLimit: bodyLimit, sink: log.write)
        let context = ExchangeContext(routeName: "GetX", time: clock)
        let next = Next(context: context) { [clock] _, _ in
            clock.advance(by: .milliseconds(34))
            return try answer()
        }
        _ = try? await logging.intercept(request, next: next)
        return log.text.replacing("#\(context.id)", with: "#N")
    }

    func post(
        _ text: String, type: String = "application/json", url: String = "https://a.test/x"
    ) throws -> HTTPRequest {
        try HTTPRequest(.post, url: url, headers: [.contentType: type], body: .bytes(Data(text.utf8)))
    }

    @Test("A log that was placed by hand reports a call that is never sent")
    func unsent() async throws {
        let texts = Locked<[String]>([])
        let logging = BuiltInInterceptor.logging { entry in texts.withLock { $0.append("\(entry)") } }
        for pipeline in [Pipeline([logging]), Pipeline.empty.adding(logging, at: .custom, changesPrincipal: false)] {
            let client = APIClient.testing(MockTransport(), baseURL: nil, pipeline: pipeline)
            texts.withLock { $0 = [] }
            await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/x")) }
            #expect(texts.withLock { $0.count } == 1)
        }
    }

    @Test("The level off writes nothing")
    func off() async throws {
        #expect(try await logged(.off, post("{}")).isEmpty)
    }

    @Test("The request has a line, and the response one with status, time and size")
    func line() async throws {
        let text = try await logged(.line, post("{}")) { .json(text: "[1,2]") }
        #expect(text == "→ #N POST https://a.test/x (GetX)\n← #N 200 OK in 34 ms, 5 bytes\n")
        #expect(log.entries.map(\.kind) == [.request, .response])
        #expect(Set(log.entries.map(\.exchange)).count == 1)
        #expect(log.entries.map(\.routeName) == ["GetX", "GetX"])
    }

    @Test("A failure has a line of its own, with its reason and detail")
    func failure() async throws {
        let text = try await logged(.line, post("{}")) { throw NetworkError(.unreachable, detail: "no\nroute") }
        #expect(text.hasSuffix("✗ #N unreachable after 34 ms: no route\n"))
        #expect(log.entries.last?.kind == .failure)
    }

    @Test("The header level adds the fields and the body level the bodies, indented below their line")
    func levels() async throws {
        let request = try post(#"{"a":1}"#)
        let headers = try await logged(.headers, request) { .json(text: "[1]") }
        #expect(
            headers == """
                → #N POST https://a.test/x (GetX)
                    Content-Type: application/json
                ← #N 200 OK in 34 ms, 3 bytes
                    Content-Type: application/json

                """)
        let body = try await LoggingInterceptorTests().logged(.body, request) { .json(text: "[1,\n2]") }
        #expect(
            body == """
                → #N POST https://a.test/x (GetX)
                    Content-Type: application/json
                    {"a":1}
                ← #N 200 OK in 34 ms, 6 bytes
                    Content-Type: application/json
                    [1,
                    2]

                """)
    }

    @Test("No secret is written at any level, of whatever part of the exchange", arguments: Level.allCases)
    func secrets(level: Level) async throws {
        let bodies = [
            ("application/json", #"{"password":"hunter2","a":{"refresh_token":"hunter2"}}"#),
            ("application/x-www-form-urlencoded", "user=ada&password=hunter2"),
            ("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=token\r\n\r\nhunter2"),
            ("application/xml", "<password>hunter2</password>"), ("text/plain", "access_token=hunter2&x=1"),
        ]
        for (type, body) in bodies {
            var request = try post(body, type: type, url: "https://a.test/x?token=hunter2&sig=hunter2")
            request.headers[.authorization] = "Bearer hunter2"
            request.headers[.cookie] = "session=hunter2"
            request.headers[.referer] = "https://ada:hunter2@a.test/?code=hunter2"
            _ = try await logged(level, request) {
                let headers: HTTPHeaders = [
                    .setCookie: "session=hunter2", .location: "/cb#access_token=hunter2", "X-Auth-Token": "hunter2",
                ]
                return .text(body, type: MediaType(type) ?? .text, headers: headers)
            }
            _ = try await logged(level, request) {
                throw NetworkError(.badResponse, detail: #"no: {"token":"hunter2"} at https://a.test/?token=hunter2"#)
            }
        }
        #expect(!log.text.contains("hunter2"), "\(log.text)")
        #expect(log.entries.isEmpty == (level == .off))
    }

    @Test("Without redaction the body is shown unchanged")
    func unredacted() async throws {
        let text = try await logged(.body, post("<password>x</password>", type: "text/xml"), redaction: .none)
        #expect(text.contains("<password>x</password>"))
    }

    @Test("A body is cut at the limit, a binary one shown by its size, an empty one not at all")
    func bounded() async throws {
        let long = try await logged(.body, post(String(repeating: "x", count: 5000), type: "text/plain")) {
            .data(Data([0, 1, 2]), type: .octetStream)
        }
        #expect(long.contains("\n    " + String(repeating: "x", count: 4096) + "…\n"))
        #expect(!long.contains(String(repeating: "x", count: 4097)))
        #expect(long.contains("(3 bytes of application/octet-stream, not shown)"))
        let small = try await LoggingInterceptorTests().logged(.body, post("abcdef", type: "text/plain"), bodyLimit: 3)
        #expect(small.contains("    abc…\n"))
        #expect(!small.contains("not shown"))
    }

    @Test("A streamed body is never read, neither of the request nor of the response")
    func streams() async throws {
        let source = ChunkSource(["secret"])
        var request = try HTTPRequest(.put, url: "https://a.test/x")
        request.body = .stream {
            Issue.record("the request's stream was made")
            return RequestBody.Chunks(AsyncStream<Data> { $0.finish() })
        }
        let text = try await logged(.body, request) {
            HTTPResponse(body: ResponseBody(source, limit: 99, length: nil))
        }
        #expect(source.pulls == 0)
        #expect(text.contains("(stream, not shown)") && text.contains("(streamed, not shown)"))
        #expect(text.contains("200 OK in 34 ms, a body of unknown length"))
    }

    @Test("Text of a server cannot begin a line that looks like an entry, or steer a terminal")
    func forged() async throws {
        let request = try HTTPRequest(url: "https://a.test/x")
        let text = try await logged(.body, request) {
            var headers = HTTPHeaders()
            headers.appendUnchecked(HTTPField(name: "X-Evil", value: "a\r\n← #9 200 OK\u{1B}[2J"))
            return .text("line\r\n→ #9 GET /\u{85}next\u{2028}\u{9B}2J", headers: headers)
        }
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("    ") {
            #expect(line.hasPrefix("→ #N ") || line.hasPrefix("← #N "), "\(line)")
        }
        #expect(!text.unicodeScalars.contains { $0 != "\n" && ($0.value < 0x20 || (0x7F...0x9F).contains($0.value)) })
    }

    @Test("The outermost logger sees one call, and changes neither response nor error")
    func transparent() async throws {
        let pipeline = Pipeline([RepeatingInterceptor(times: 2)]).adding(.logging(sink: log.write))
        let client = APIClient.mock(pipeline: pipeline) {
            $0.on(GetPerson.self) { _ in Person.ann }
            $0.fail(.call(3), with: NetworkError(.connectionLost(.requestNotSent)))
        }
        #expect(try await client.send(GetPerson(id: 1)) == .ann)
        #expect(log.entries.map(\.kind) == [.request, .response])
        #expect(await failureReason { try await client.send(GetPerson(id: 1)) } == .connectionLost(.requestNotSent))
        #expect(log.entries.map(\.kind) == [.request, .response, .request, .failure])
    }

    @Test("A logger further in shows the number of the attempt")
    func attempts() async throws {
        let pipeline: Pipeline = [RepeatingInterceptor(times: 2), .logging(sink: log.write)]
        let client = APIClient.mock(pipeline: pipeline) { $0.on(GetPerson.self) { _ in Person.ann } }
        try await client.send(GetPerson(id: 1))
        #expect(log.entries.filter { $0.kind == .request }.map { "\($0)".hasSuffix(", attempt 2") } == [false, true])
    }
}
