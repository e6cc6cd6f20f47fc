// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewStreams
import CurlewTesting

/// Cases for event streams: bodies without an end, whose bytes are delivered as they arrive.
enum EventStreamCases {
    static let all = delivery + reconnection + endings

    private static let delivery = [
        ConformanceCase(
            "events arrive in order, with name, data and ID", .eventStreams, .message, rule: "WHATWG HTML §9.2"
        ) { trial in
            let (server, client) = try trial.streams()
            server.on(
                .get, "/",
                respond: .events([
                    .event("one\ntwo", name: "news", id: "7"), .comment("three"), .event(""), .event("four", id: "8"),
                ]))
            var options = EventStream.Options()
            options.reconnects = false
            var events: [ServerEvent] = []
            for try await event in client.events(.get("/"), options: options) { events.append(event) }
            let expected = [
                ServerEvent(name: "news", data: "one\ntwo", id: "7"), ServerEvent(data: "", id: "7"),
                ServerEvent(data: "four", id: "8"),
            ]
            try trial.equal(events, expected, "the events")
            try trial.equal(server.requests.first?.headers[.accept], "text/event-stream", "Accept")
        },
        ConformanceCase(
            "an event whose bytes arrive one by one is complete", .eventStreams, .message, rule: "WHATWG HTML §9.2"
        ) { trial in
            let (server, client) = try trial.streams()
            let text = "\u{FEFF}event: grüße\r\ndata: über\r\ndata\r\nid: 1\r\n\r\n"
            server.on(.get, "/", respond: .events(text.utf8.map { .bytes(Data([$0])) }))
            var events = client.events(.get("/")).makeAsyncIterator()
            let event = try await events.next()
            try trial.equal(event, ServerEvent(name: "grüße", data: "über\n", id: "1"), "the event")
        },
        ConformanceCase(
            "an event is delivered while the stream stays open", .eventStreams, .message, rule: "WHATWG HTML §9.2"
        ) { trial in
            let (server, client) = try trial.streams()
            let (permits, permit) = AsyncStream.makeStream(of: Int.self)
            server.on(.get, "/") { _ in
                .events { stream in
                    for await number in permits { try await stream.send("\(number)") }
                }
            }
            var events = client.events(.get("/")).makeAsyncIterator()
            for number in 0..<20 {
                permit.yield(number)
                try trial.equal(try await events.next()?.data, "\(number)", "the data")
            }
            permit.finish()
        },
        ConformanceCase(
            "an event of a coded stream is delivered while the stream stays open", .eventStreams,
            rule: "RFC 9110 §8.4.1.3"
        ) { trial in
            let (server, client) = try trial.streams()
            server.on(.get, "/", respond: .gzipEvents(["data: one", "data: two"], stalls: true))
            var events = client.events(.get("/")).makeAsyncIterator()
            for data in ["one", "two"] { try trial.equal(try await events.next()?.data, data, "the data") }
        },
    ]

    private static let reconnection =
        [MockResponse.Interruption?.none, .close, .reset].map { interruption in
            let how = interruption.map { "is cut by a \($0)" } ?? "ends"
            return ConformanceCase(
                "a stream that \(how) is requested again with the last event ID", .eventStreams, .message,
                rule: "WHATWG HTML §9.2.4"
            ) { trial in
                let (server, client) = try trial.streams()
                server.on(.get, "/") { request in
                    let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
                    var steps: [MockEventStep] = (1...3).map { .event("\(last + $0)", id: "\(last + $0)") }
                    steps.append(.text("data: incomplete"))
                    // A reset may overtake the events, which would then be sent again.
                    if let interruption { steps += [.pause(.milliseconds(20)), .interruption(interruption)] }
                    return .events(steps)
                }
                var options = EventStream.Options()
                options.retryDelay = .zero
                var events = client.events(.get("/"), options: options).makeAsyncIterator()
                for number in 1...9 {
                    let event = try await events.next()
                    try trial.equal(event, ServerEvent(data: "\(number)", id: "\(number)"), "the event")
                }
                try trial.expect(server.requestCount >= 3, "there were \(server.requestCount) requests")
            }
        }

    private static let endings = [
        ConformanceCase("status 204 ends the stream", .eventStreams, .message, rule: "WHATWG HTML §9.2.3") { trial in
            let (server, client) = try trial.streams()
            server.enqueue(.events([.event("one")]), .status(.noContent))
            var options = EventStream.Options()
            options.retryDelay = .zero
            var events = client.events(.get("/"), options: options).makeAsyncIterator()
            try trial.equal(try await events.next()?.data, "one", "the data")
            try trial.equal(try await events.next(), nil, "the event after the end")
            try trial.equal(server.requestCount, 2, "the number of requests")
        },
        ConformanceCase(
            "cancelling the reader of a stream closes its connection", .eventStreams, .message,
            rule: "Transport: cancellation"
        ) { trial in
            let (server, client) = try trial.streams()
            let (hasBegun, hasEnded) = (Locked(false), Locked(false))
            server.on(.get, "/") { _ in
                .events { stream in
                    defer { hasEnded.withLock { $0 = true } }
                    try await stream.send("one")
                    try await stream.pause(.seconds(60))
                }
            }
            let task = Task {
                for try await _ in client.events(.get("/")) { hasBegun.withLock { $0 = true } }
            }
            try await trial.eventually("an event arrives") { hasBegun.withLock { $0 } }
            task.cancel()
            try await trial.expectFailure(.cancelled) { try await task.value }
            try await trial.eventually("the server sees the end") { hasEnded.withLock { $0 } }
            try await trial.eventually("the connection is closed") { server.openConnections == 0 }
        },
        ConformanceCase(
            "a reader that pauses makes the server of a stream wait", .eventStreams, .message,
            rule: "Transport: back-pressure"
        ) { trial in
            let (server, client) = try trial.streams(TransportConfiguration(bodyBuffer: 100_000))
            let (written, count) = (Locked(0), 250)
            server.on(.get, "/") { _ in
                .events { stream in
                    let data = String(repeating: "x", count: 100_000)
                    for _ in 0..<count {
                        try await stream.send(data)
                        written.withLock { $0 += 1 }
                    }
                }
            }
            var options = EventStream.Options()
            options.reconnects = false
            var events = client.events(.get("/"), options: options).makeAsyncIterator()
            var received = try await events.next() == nil ? 0 : 1
            // The system's socket buffers hold up to about ten megabytes.
            try await trial.eventually("the server writes") { written.withLock { $0 } > 0 }
            let sent = try await trial.standstill { written.withLock { $0 } }
            try trial.expect(sent < 180, "the server has sent \(sent) events to a reader that does not read")
            while try await events.next() != nil { received += 1 }
            try trial.equal(received, count, "the number of events in the end")
        },
    ]
}

extension ConformanceTrial {
    /// Starts a server, and creates a client without interceptors for it.
    func streams(
        _ configuration: TransportConfiguration = TransportConfiguration()
    ) throws -> (server: MockServer, client: APIClient) {
        let server = try server()
        let client = APIClient(baseURL: try BaseURL(server.url), pipeline: [], transport: try transport(configuration))
        return (server, client)
    }
}
