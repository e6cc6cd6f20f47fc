// SPDX-License-Identifier: MIT

import Dispatch
import Testing

/// Event streams of a mock server, byte by byte.
@Suite(.timeLimit(.minutes(1)))
struct MockServerEventTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    private static let steps: [MockEventStep] = [
        .event("one\ntwo", name: "news", id: "1", retry: .milliseconds(10)), .comment("still here"), .text("data"),
        .pause(.milliseconds(1)), .bytes(Data(": three\r\n\r\n".utf8)),
    ]
    private static let text =
        "event: news\nid: 1\nretry: 10\ndata: one\ndata: two\n\n: still here\n\ndata: three\r\n\r\n"

    /// The content of a response in chunks, and whether its last chunk has arrived.
    private static func content(_ text: String) -> (text: String, isComplete: Bool) {
        var rest = Array(text.utf8)[...]
        var content: [UInt8] = []
        while let end = rest.firstIndex(of: 0x0D) {
            guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) else { break }
            if size == 0 { return (String(decoding: content, as: UTF8.self), true) }
            content += rest.dropFirst(end - rest.startIndex + 2).prefix(size)
            rest = rest.dropFirst(end - rest.startIndex + 2 + size + 2)
        }
        return (String(decoding: content, as: UTF8.self), false)
    }

    @Test("Steps are sent in chunks, and the connection stays open for the next request")
    func chunks() throws {
        let server = try MockServer()
        server.enqueue(.events(Self.steps), .text("next").closing())
        let client = try RawClient(port: server.port).send(Self.request).send(Self.request)
        let head = client.readHead().lowercased()
        #expect(head.hasPrefix("http/1.1 200 ok\r\n"))
        #expect(head.contains("\r\ncontent-type: text/event-stream\r\n"))
        #expect(head.contains("\r\ncache-control: no-store\r\n"))
        let (text, ending) = client.readToEnd()
        #expect(Self.content(text) == (Self.text, true))
        #expect(text.hasSuffix("next") && ending == .orderly)
        #expect(server.requests.map(\.exchangeIndex) == [0, 1])
    }

    @Test("Without chunks, the end of the connection ends the stream")
    func untilClose() throws {
        let server = try MockServer()
        server.enqueue(.events(Self.steps).framed(as: .untilClose))
        let client = try RawClient(port: server.port).send(Self.request)
        #expect(!client.readHead().lowercased().contains("transfer-encoding"))
        #expect(client.readToEnd() == (Self.text, .orderly))
    }

    @Test("A stream can be cut at every byte", arguments: [true, false])
    func cuts(isChunked: Bool) throws {
        let server = try MockServer()
        let bytes = Data(Self.text.utf8)
        for count in 0...bytes.count {
            let stream = MockResponse.events(Self.steps).truncated(after: count)
            server.enqueue(isChunked ? stream : stream.framed(as: .untilClose))
            let client = try RawClient(port: server.port).send(Self.request)
            _ = client.readHead()
            let (text, ending) = client.readToEnd()
            let expected = String(decoding: bytes.prefix(count), as: UTF8.self)
            #expect(isChunked ? Self.content(text) == (expected, false) : text == expected, "cut at \(count)")
            #expect(ending == .orderly)
        }
    }

    @Test("A stream is interrupted by a step, and later steps are not executed", arguments: [true, false])
    func interruption(isReset: Bool) throws {
        let server = try MockServer()
        server.enqueue(.events([.event("one"), .interruption(isReset ? .reset : .close), .event("two")]))
        let client = try RawClient(port: server.port).send(Self.request)
        if !isReset { _ = client.readHead() }
        let (text, ending) = client.readToEnd()
        #expect(ending == (isReset ? .reset : .orderly))
        #expect(!text.contains("two"))
        if !isReset { #expect(Self.content(text) == ("data: one\n\n", false)) }
    }

    @Test("A script that throws ends the connection without a last chunk")
    func failure() throws {
        struct Broken: Error {}
        let server = try MockServer()
        server.enqueue(
            .events { stream in
                try await stream.send("one")
                throw Broken()
            })
        let client = try RawClient(port: server.port).send(Self.request)
        _ = client.readHead()
        let (text, ending) = client.readToEnd()
        #expect(Self.content(text) == ("data: one\n\n", false))
        #expect(ending == .orderly)
    }

    @Test("A script sees its request")
    func lastEventID() throws {
        let server = try MockServer()
        server.on(.get, "/news") { request in
            let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
            return .events { stream in
                for number in (last + 1)...3 { try await stream.send("\(number)", id: "\(number)") }
            }
        }
        let client = try RawClient(port: server.port)
        client.send("GET /news HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 2\r\nConnection: close\r\n\r\n")
        _ = client.readHead()
        #expect(Self.content(client.readToEnd().text) == ("id: 3\ndata: 3\n\n", true))
    }

    @Test("A client that closes the connection ends the script, in a pause and in a write", arguments: [true, false])
    func clientEnds(isPaused: Bool) throws {
        let server = try MockServer()
        let (ended, errors) = (DispatchSemaphore(value: 0), Locked<[NetworkError]>([]))
        server.enqueue(
            .events { stream in
                defer { ended.signal() }
                do {
                    try await stream.send("one")
                    if isPaused { try await stream.pause(.seconds(60)) }
                    while true { try await stream.write(Data(count: 1 << 20)) }
                } catch {
                    errors.withLock { $0.append(NetworkError(error)) }
                }
            })
        var client: RawClient? = try RawClient(port: server.port)
        client?.send(Self.request)
        #expect(client?.readHead().isEmpty == false)
        client = nil
        #expect(ended.wait(timeout: .now() + 20) == .success)
        #expect(errors.withLock { $0.count } == 1)
        server.stop()
        #expect(server.openConnections == 0)
    }

    @Test("A stalled stream stays open until the server stops, which ends the script")
    func stop() throws {
        let server = try MockServer()
        server.enqueue(.events([.event("one"), .interruption(.stall)]))
        let client = try RawClient(port: server.port).send(Self.request)
        _ = client.readHead()
        #expect(client.read(16) == "b\r\ndata: one\n\n\r\n")
        server.stop()
        #expect(client.readToEnd() == ("", .orderly))
    }

    @Test("A HEAD request receives the head only, and the script does not run")
    func head() throws {
        let server = try MockServer()
        let hasRun = Locked(false)
        server.on(.get, "/") { _ in .events { _ in hasRun.withLock { $0 = true } } }
        let client = try RawClient(port: server.port)
        client.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(client.readHead().contains("text/event-stream"))
        #expect(client.readToEnd() == ("", .orderly))
        #expect(!hasRun.withLock { $0 })
    }

    @Test("A stream can be sent slowly")
    func slow() throws {
        let server = try MockServer()
        server.enqueue(.events(Self.steps).dripping(bytesPerChunk: 1, every: .zero).framed(as: .untilClose))
        let client = try RawClient(port: server.port).send(Self.request)
        _ = client.readHead()
        #expect(client.readToEnd() == (Self.text, .orderly))
    }
}
