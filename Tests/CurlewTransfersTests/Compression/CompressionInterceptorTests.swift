// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import TestServers
import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct CompressionInterceptorTests {
    private static func request(
        _ bytes: Int = 5000, type: String? = "application/json", headers: HTTPHeaders = [:], body: RequestBody? = nil,
        url: String = "https://api.example/v1/things"
    ) throws -> HTTPRequest {
        var headers = headers
        if let type { headers[.contentType] = type }
        return try HTTPRequest(.post, url: url, headers: headers, body: body ?? .bytes(prose(bytes)))
    }

    private static func stream(_ data: Data, length: Int64? = nil, replay: RequestBody.Replay = .always) -> RequestBody
    {
        .stream(length: length, replay: replay) {
            RequestBody.Chunks(
                AsyncStream { source in
                    source.yield(data)
                    source.finish()
                })
        }
    }

    private static func send(
        _ interceptor: some Interceptor, _ request: HTTPRequest, clock: ManualClock = ManualClock(),
        _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .answer("{}") }
    ) async throws -> (response: HTTPResponse, sent: [HTTPRequest]) {
        let sent = Locked<[HTTPRequest]>([])
        let context = ExchangeContext(time: clock)
        let next = Next(context: context) { request, _ in
            sent.withLock { $0.append(request) }
            return answer(request)
        }
        let response = try await interceptor.intercept(request, next: next)
        return (response, sent.withLock { $0 })
    }

    /// A server that knows no coding.
    private static let refusing: @Sendable (HTTPRequest) -> HTTPResponse = { request in
        request.headers.contains(.contentEncoding) ? .answer(.unsupportedMediaType, "no") : .answer("{}")
    }

    private static func coded(_ requests: [HTTPRequest]) -> [Bool] {
        requests.map { $0.headers[.contentEncoding] == "gzip" }
    }

    @Test("A body in memory is compressed, and its other fields stay")
    func compresses() async throws {
        let request = try Self.request(headers: ["X-A": "1"])
        let sent = try #require(try await Self.send(.compressingRequests(), request).sent.first)
        let bytes = try #require(sent.body.data)
        #expect(bytes.count < 2500)
        #expect(sent.headers[.contentEncoding] == "gzip")
        #expect(sent.headers["X-A"] == "1" && sent.headers[.contentType] == "application/json")
        #expect(sent.headers.count == 3)
        #expect(try await pythonDecoded([bytes]) == [prose(5000)])
    }

    @Test(
        "Only types that become smaller are compressed",
        arguments: [
            ("application/json; charset=utf-8", true), ("text/csv", true), ("image/svg+xml", true),
            ("application/vnd.api+json", true), ("application/x-www-form-urlencoded", true), ("text/javascript", true),
            ("application/javascript", true), ("application/xml", true), ("image/png", false), ("video/mp4", false),
            ("application/zip", false), ("application/octet-stream", false), ("multipart/form-data; boundary=a", false),
            ("application/gzip", false), ("font/woff2", false), ("nonsense", false), (nil, false),
        ] as [(String?, Bool)])
    func types(type: String?, isCompressed: Bool) async throws {
        let sent = try await Self.send(.compressingRequests(), Self.request(type: type)).sent
        #expect(Self.coded(sent) == [isCompressed])
    }

    @Test("Small, bound, empty and incompressible bodies are sent unchanged")
    func unchanged() async throws {
        var random = SeededGenerator(seed: 1)
        let noise = RequestBody.bytes(Data((0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) }))
        for request in [
            try Self.request(1023), try Self.request(0), try Self.request(body: .empty), try Self.request(body: noise),
            try Self.request(headers: ["Content-Encoding": "identity"]),
            try Self.request(headers: ["Content-Range": "bytes 0-4999/9000"]),
            try Self.request(headers: ["content-digest": "sha-256=:AAAA:"]),
            try Self.request(headers: ["Repr-Digest": "sha-256=:AAAA:"]),
            try Self.request(headers: ["Content-MD5": "AAAA"]),
            try Self.request(body: Self.stream(prose(5000))), try Self.request(body: .file("/dev/null")),
        ] {
            let sent = try #require(try await Self.send(.compressingRequests(), request).sent.first)
            #expect(sent.headers[.contentEncoding] == request.headers[.contentEncoding])
            #expect(sent.body.data == request.body.data)
        }
        #expect(Self.coded(try await Self.send(.compressingRequests(), Self.request(1024)).sent) == [true])
        #expect(Self.coded(try await Self.send(.compressingRequests(above: 0), Self.request(200)).sent) == [true])
        let trailing = Self.stream(prose(5000)).trailing("Content-Digest") { [:] }
        let sent = try await Self.send(.compressingRequests(streaming: true), Self.request(body: trailing)).sent
        #expect(Self.coded(sent) == [false])
    }

    @Test("With streaming, files and streams are compressed while they are sent")
    func streaming() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("a.json", prose(200_000))
        let small = try folder.file("b.json", prose(100))
        let interceptor = BuiltInInterceptor.compressingRequests(streaming: true)
        for (body, isCoded) in [
            (RequestBody.file(path), true), (.file(small), false), (Self.stream(prose(200_000)), true),
            (Self.stream(prose(200_000), length: 200_000), true), (Self.stream(prose(100), length: 100), false),
            (.file(folder.path + "/missing"), true),
        ] {
            let sent = try #require(try await Self.send(interceptor, Self.request(body: body)).sent.first)
            #expect(Self.coded([sent]) == [isCoded])
            #expect(!isCoded || sent.body.length == nil)
            guard isCoded, !"\(body)".contains("missing") else { continue }
            var bytes = Data()
            for try await chunk in try sent.body.chunks() { bytes += chunk }
            #expect(try await pythonDecoded([bytes]) == [prose(200_000)])
        }
    }

    @Test("A 415 is followed by the plain body, and remembered for an hour and for this origin")
    func refusals() async throws {
        let interceptor = BuiltInInterceptor.compressingRequests()
        let clock = ManualClock()
        let (response, sent) = try await Self.send(interceptor, Self.request(), clock: clock, Self.refusing)
        #expect(response.status == .ok && Self.coded(sent) == [true, false])
        #expect(sent.last?.body.data == prose(5000))
        #expect(response.attempts.count == 2)
        #expect(response.attempts.first?.decision == .retry(after: .zero, because: .serverAsked))
        let again = try await Self.send(interceptor, Self.request(), clock: clock, Self.refusing).sent
        #expect(Self.coded(again) == [false])
        let other = try Self.request(url: "https://other.example/")
        #expect(Self.coded(try await Self.send(interceptor, other, clock: clock, Self.refusing).sent) == [true, false])
        clock.advance(by: .seconds(3600))
        #expect(Self.coded(try await Self.send(interceptor, Self.request(), clock: clock).sent) == [true])
    }

    @Test("A 415 for another reason is returned, and not remembered")
    func otherReasons() async throws {
        let interceptor = BuiltInInterceptor.compressingRequests()
        let type: @Sendable (HTTPRequest) -> HTTPResponse = { _ in
            HTTPResponse(
                status: .unsupportedMediaType, headers: [.acceptEncoding: "br;q=1, GZIP;q=0.5"],
                body: ResponseBody(Data()))
        }
        #expect(Self.coded(try await Self.send(interceptor, Self.request(), type).sent) == [true])
        let always: @Sendable (HTTPRequest) -> HTTPResponse = { _ in .answer(.unsupportedMediaType, "type") }
        let (response, sent) = try await Self.send(interceptor, Self.request(), always)
        #expect(response.status == .unsupportedMediaType && Self.coded(sent) == [true, false])
        #expect(Self.coded(try await Self.send(interceptor, Self.request()).sent) == [true])
        for status in [HTTPStatus.badRequest, .lengthRequired, .internalServerError] {
            let sent = try await Self.send(interceptor, Self.request()) { _ in .answer(status, "") }.sent
            #expect(Self.coded(sent) == [true])
        }
    }

    @Test("A body that cannot be produced again is not sent again, and the refusal is remembered")
    func noReplay() async throws {
        let interceptor = BuiltInInterceptor.compressingRequests(streaming: true)
        let clock = ManualClock()
        let once = try Self.request(body: Self.stream(prose(5000), replay: .never))
        let (response, sent) = try await Self.send(interceptor, once, clock: clock, Self.refusing)
        #expect(response.status == .unsupportedMediaType && Self.coded(sent) == [true])
        let again = try await Self.send(interceptor, once, clock: clock, Self.refusing).sent
        #expect(Self.coded(again) == [false])
    }

    @Test("After a 411, bodies in memory are still compressed")
    func lengthRequired() async throws {
        let interceptor = BuiltInInterceptor.compressingRequests(streaming: true)
        let clock = ManualClock()
        let file = try Self.request(body: Self.stream(prose(5000), length: 5000))
        let (response, sent) = try await Self.send(interceptor, file, clock: clock) {
            $0.body.length == nil ? .answer(.lengthRequired, "") : .answer("{}")
        }
        #expect(response.status == .ok && Self.coded(sent) == [true, false])
        #expect(Self.coded(try await Self.send(interceptor, file, clock: clock).sent) == [false])
        #expect(Self.coded(try await Self.send(interceptor, Self.request(), clock: clock).sent) == [true])
    }

    @Test("The table of refusals is bounded and forgets the oldest")
    func bounded() {
        var table = CompressionRefusals()
        let now = MonotonicInstant(nanoseconds: 0)
        let origins = (0..<200).compactMap { Origin(scheme: "https", host: "h\($0).example", port: 443) }
        for (number, origin) in origins.enumerated() {
            table.remember(.coding, of: origin, at: now.advanced(by: .seconds(number)))
        }
        let later = now.advanced(by: .seconds(200))
        #expect(table.count == CompressionRefusals.mostOrigins)
        #expect(table.allowed(.atOnce, for: origins[199], at: later) == .unchanged)
        #expect(table.allowed(.atOnce, for: origins[0], at: later) == .atOnce)
        table.remember(.unknownLength, of: origins[199], at: later)
        #expect(table.allowed(.atOnce, for: origins[199], at: later) == .unchanged)
        table.remember(.unknownLength, of: origins[0], at: later)
        #expect(table.allowed(.atOnce, for: origins[0], at: later) == .atOnce)
        #expect(table.allowed(.whileSending, for: origins[0], at: later) == .unchanged)
    }

    @Test("In a client: signed after compression, anonymous, with problems reported")
    func client() async throws {
        struct Signing: Interceptor {
            var placement: Placement { .signing }
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                var request = request
                request.headers["X-Length"] = "\(request.body.length ?? -1)"
                return try await next(request)
            }
        }
        let transport = RecordingTransport()
        let client = APIClient.testing(transport, pipeline: [.compressingRequests(), Signing()])
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let text = String(decoding: prose(4000), as: UTF8.self)
                    try await client.send(Request<Void>.post("/a", body: .text(text)))
                }
            }
            try await group.waitForAll()
        }
        for request in transport.requests {
            #expect(request.headers["X-Length"] == "\(request.body.data?.count ?? -2)")
            #expect(request.headers[.contentEncoding] == "gzip")
        }
        #expect(transport.requests.count == 8)
        let context = ExchangeContext()
        #expect(BuiltInInterceptor.compressingRequests().principal(of: try Self.request(), in: context) == .anonymous)
        #expect(APIClient.testing(transport, pipeline: [.compressingRequests(above: -1)]).problems.count == 1)
    }
}
