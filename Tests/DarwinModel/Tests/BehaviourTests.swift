// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewCore
import CurlewHTTP
import CurlewStreams
import CurlewTesting
import Foundation
import TestFixtures
import TestServers
import Testing

@testable import CurlewURLSession

/// What Darwin's URLSession does and the one of Linux does not, and what the transport makes of it.
@Suite(.timeLimit(.minutes(1)))
struct BehaviourTests {
    private func transport(
        waitsForConnectivity: Bool = false, _ change: (inout DarwinBehaviour) -> Void = { _ in }
    ) -> URLSessionTransport {
        let settings = URLSessionConfiguration.ephemeral
        settings.waitsForConnectivity = waitsForConnectivity
        change(&settings.behaviour)
        return URLSessionTransport(session: settings)
    }

    private func pause(_ time: Duration) async {
        let end = ContinuousClock.now + time
        _ = await eventually { ContinuousClock.now >= end }
    }

    // MARK: Cancelled by the system

    @Test("A task that the system cancels is a lost connection: the caller has cancelled nothing")
    func unorderedCancellation() async throws {
        let transport = transport { behaviour in behaviour.endsAllTasks.withLock { $0 = .cancelled } }
        let error = await transport.failure(.get, "http://127.0.0.1:1/")
        #expect(
            error?.reason == .connectionLost(.requestMayHaveArrived) && error?.hint?.contains("invalidated") == true)
        let client = APIClient(baseURL: "http://127.0.0.1:1", pipeline: [], transport: transport)
        let other = await #expect(throws: NetworkError.self) { try await client.webSocket(.get("/")) }
        #expect(other?.isCancelled == false)
    }

    // MARK: Silence

    @Test("A call that waits for a network is not silence of the server", arguments: [false, true])
    func connectivity(waits: Bool) async throws {
        let (network, server) = (Monitor(false), try MockServer.always(.text("ok"), to: .post))
        server.on(.post, "/silent", respond: MockResponse().stalled(at: .beforeHead))
        server.on(.get, "/socket", respond: .webSocket { _ in })
        let transport = transport(waitsForConnectivity: waits) { $0.network = network }
        let limits = Timeouts(firstByte: .seconds(2), idle: .seconds(2), total: .seconds(30))
        func call(_ path: String) -> Task<String, any Error> {
            let (url, body) = (server.url + path, RequestBody.bytes(pattern(10)))
            return Task { try await transport.exchange(.post, url, body: body, timeouts: limits).text() }
        }
        let (first, silent) = (call("/"), call("/silent"))
        let client = APIClient(
            baseURL: try BaseURL(server.url), pipeline: [], transport: transport,
            configuration: APIClient.Configuration(timeouts: limits))
        let socket = Task { try await client.webSocket(.get("/socket")) }
        guard waits else { return #expect(await reason(of: first) == .unreachable) }
        await pause(.milliseconds(2500))
        network.withLock { $0 = true }
        #expect(try await first.value == "ok")
        try await socket.value.close()
        // With a network, silence counts again.
        #expect(await reason(of: silent) == .timedOut(.firstByte))
    }

    /// Events, events for a request with a body, and lines whose first bytes the system keeps to determine their type.
    @Test("A live response that is silent after its head is no server without a response", arguments: [0, 1, 2])
    func silentStream(kind: Int) async throws {
        let (asked, release) = (Signal(), Signal())
        let server = try RawServer { connection in
            _ = try connection.readHead()
            if kind == 1 { _ = try connection.read(10) }
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/"
            try connection.write(head + (kind == 2 ? "plain\r\n\r\n1\n" : "event-stream\r\n\r\n"))
            asked.fire()
            release.block()
            if kind < 2 { try connection.write("data: 1\n\n") }
        }
        let configuration = APIClient.Configuration(timeouts: Timeouts(firstByte: .milliseconds(100)))
        let client = APIClient(
            baseURL: try BaseURL(server.url), pipeline: [], transport: transport(), configuration: configuration)
        let first = Task {
            let body = kind == 1 ? RequestContent.data(pattern(10)) : .none
            let request = Request<Void>(kind == 1 ? .post : .get, "/", body: body)
            var options = RecordStreamOptions()
            options.checksContentType = false
            if kind == 2 {
                for try await number in client.records(request, of: Int.self, options: options) { return "\(number)" }
            } else {
                for try await event in client.events(request) { return event.data }
            }
            return ""
        }
        await asked.wait()
        await pause(.milliseconds(300))
        release.fire()
        #expect(try await first.value == "1")
        #expect(server.connectionCount == 1)
    }

    @Test("The pause of a reader is no silence of the server, which begins when the reader goes on")
    func pausedReader() async throws {
        let server = try MockServer.always(.generated(bytes: 1_000_000).stalled(at: .afterBytes(300_000)))
        let configuration = TransportConfiguration(bodyBuffer: 16_384)
        let transport = URLSessionTransport(configuration: configuration)
        let limit = Duration.milliseconds(500)
        let response = try await transport.exchange(.get, server.url + "/", timeouts: Timeouts(idle: limit))
        var reader = response.body.makeAsyncIterator()
        _ = try await reader.next()
        await pause(limit * 2)
        let start = ContinuousClock.now
        let error = await #expect(throws: NetworkError.self) { while try await reader.next() != nil {} }
        #expect(error?.reason == .timedOut(.idle) && ContinuousClock.now - start >= limit - .milliseconds(10))
    }

    // MARK: Requests

    @Test("Bodies have no fields of resumable uploads", arguments: [0, 1, 2])
    func bodies(kind: Int) async throws {
        let server = try MockServer.always(.text("ok"), to: .post)
        let folder = try TemporaryFolder()
        let body: RequestBody =
            switch kind {
            case 0: .bytes(pattern(100_000))
            case 1: .file(try folder.file("body", pattern(100_000)))
            default: .stream(length: 100_000) { .init(Produced(pattern(100_000), by: 1000)) }
            }
        _ = try await transport().exchange(.post, server.url + "/", body: body).text()
        let request = try #require(server.requests.first)
        #expect(request.headers.allSatisfy { !$0.name.text.lowercased().hasPrefix("upload-") })
        #expect(request.body == pattern(100_000) && request.headers["Content-Length"] == "100000")
    }

    @Test("A broken upload is not resumed by the system, unseen by deadlines and interceptors")
    func resumption() async throws {
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /part\r\n\r\n")
        }
        let error = await transport().failure(.post, server.url + "/", body: .bytes(pattern(10)))
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(server.connectionCount == 1)
    }

    @Test(
        "A body that the system requests again is sent from its beginning, or the call fails", arguments: [false, true])
    func repeatedStream(canReplay: Bool) async throws {
        let server = try MockServer.always(.text("ok"), to: .put)
        let body = RequestBody.stream(replay: canReplay ? .always : .never) {
            .init(Produced(pattern(100_000), by: 1000))
        }
        let transport = transport { $0.requestsStreamsTwice = true }
        let error = await transport.failure(.put, server.url + "/", body: body)
        #expect(error?.reason == (canReplay ? nil : .connectionLost(.requestMayHaveArrived)))
        #expect(server.requests.allSatisfy { $0.body == pattern(100_000) })
    }

    @Test("The producers and streams of a body end with its call, also what the system has dropped", arguments: [1, 2])
    func producers(count: Int) async throws {
        let (server, begun, ended) = (try MockServer(), Locked(0), Locked(0))
        let log = DarwinStreamLog()
        DarwinStreamLog.current.withLock { $0 = log }
        defer { DarwinStreamLog.current.withLock { $0 = nil } }
        let body = RequestBody.stream(replay: .always) {
            .init(
                Produced([Data([1])]).map { chunk in
                    begun.withLock { $0 += 1 }
                    await Signal().wait()
                    ended.withLock { $0 += 1 }
                    return chunk
                })
        }
        let transport = transport { $0.requestsStreamsTwice = count == 2 }
        let call = Task { try await transport.exchange(.put, server.url + "/", body: body) }
        try await yieldUntil { begun.withLock { $0 } == count }
        call.cancel()
        #expect(await reason(of: call) == .cancelled)
        try await yieldUntil { ended.withLock { $0 } == count && log.closings.withLock { $0 } == count }
    }

    @Test("An event for a body that has ended finds its delegate")
    func streamDelegate() async throws {
        let (log, stop) = (DarwinStreamLog(), Signal())
        DarwinStreamLog.current.withLock { $0 = log }
        defer { DarwinStreamLog.current.withLock { $0 = nil } }
        let ends = Locked(BoundStream.make().map(Unchecked.init))
        log.beforeEvent.withLock {
            $0 = {
                stop.block()
                ends.withLock { ends in
                    ends?.value.feed.release()
                    ends = nil
                }
            }
        }
        stop.fire()
        try await yieldUntil { log.events.withLock { $0 } > 0 }
        #expect(log.lateEvents.withLock { $0 } == 0)
    }

    // MARK: Responses

    @Test("Parts without boundaries are refused")
    func parts() async throws {
        let text =
            "--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\nContent-Type: text/plain\r\n\r\ntwo\r\n--b--\r\n"
        let server = try MockServer.always(
            .text(text).with(headers: ["Content-Type": "multipart/x-mixed-replace; boundary=b"]))
        let error = await transport().failure(.get, server.url + "/")
        #expect(error?.reason == .badResponse && error?.detail.contains("boundaries") == true)
    }

    @Test("Interim responses reach the observers")
    func interim() async throws {
        let server = try MockServer.always(.text("ok").after(HTTPStatus(103), headers: ["Link": "</a>"]))
        let log = EventLog { event, _ -> String? in
            if case .interim(let status, let fields) = event { "\(status.code) \(fields["Link"] ?? "")" } else { nil }
        }
        _ = try await transport().exchange(.get, server.url + "/", observers: [log]).text()
        #expect(log.entries == ["103 </a>"])
    }

    @Test("Pieces that arrive after a suspension are kept")
    func lateReader() async throws {
        let server = try MockServer.always(.generated(bytes: 3_000_000))
        let settings = URLSessionConfiguration.ephemeral
        settings.behaviour.piecesAfterSuspend = 5
        let transport = URLSessionTransport(
            configuration: TransportConfiguration(bodyBuffer: 16_384), session: settings)
        let response = try await transport.exchange(.get, server.url + "/")
        await pause(.milliseconds(50))
        #expect(try await response.data() == pattern(3_000_000))
    }

    @Test("A task that ends before its last piece gives an error, not a part of the body")
    func earlyEnd() async throws {
        let server = try MockServer.always(.generated(bytes: 1000))
        let error = await transport { $0.endsBeforeLastPiece = true }.failure(.get, server.url + "/")
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
    }

    @Test("A transport is the delegate of its tasks in an existing session, which it does not end")
    func existingSession() async throws {
        let (server, session) = (try MockServer.always(.text("ok")), URLSession(configuration: .ephemeral))
        for _ in 0..<2 {
            let transport = URLSessionTransport(session: session)
            #expect(try await transport.exchange(.get, server.url + "/").text() == "ok")
            await transport.shutdown()
        }
    }

    @Test("A GET on a dead connection is repeated by the system, whatever the call says")
    func repetition() async throws {
        let server = try MockServer()
        server.on(.get, "/") {
            let isDead = $0.connectionIndex == 0 && $0.exchangeIndex == 1
            return isDead ? .text("never").reset(at: .beforeHead) : .text("ok")
        }
        let transport = transport()
        _ = try await transport.exchange(.get, server.url + "/").text()
        #expect(try await transport.exchange(.get, server.url + "/") { $0.isIdempotent = false }.text() == "ok")
        #expect(server.requestCount == 3)
    }
}
