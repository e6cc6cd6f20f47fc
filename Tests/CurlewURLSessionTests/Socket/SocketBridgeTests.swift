// SPDX-License-Identifier: MIT

import CurlewStreams
import TestServers
import Testing

@testable import CurlewURLSession

/// Whole connections over a task that stands for URLSession's.
@Suite(.timeLimit(.minutes(1)))
struct SocketBridgeTests {
    private let lost = URLError(.networkConnectionLost)

    private func client(_ transport: FakeSocketTransport, timeouts: Timeouts = .standard) -> APIClient {
        APIClient.testing(transport, baseURL: "https://a.example", timeouts: timeouts)
    }

    /// A transport whose connections open and send every message back.
    private func echo(subprotocol: String? = nil) -> FakeSocketTransport {
        FakeSocketTransport { bridge in
            let task = FakeSocketTask(isEcho: true)
            task.connect(bridge)
            bridge.adopt(task)
            bridge.opened(subprotocol: subprotocol, response: FakeSocketTask.response(101))
        }
    }

    /// An open connection whose task does nothing by itself.
    private func open(
        limit: Int = 100
    ) async throws -> (connection: any MessageConnection, task: FakeSocketTask, FakeSocketTransport) {
        let task = FakeSocketTask()
        let transport = FakeSocketTransport { bridge in
            task.connect(bridge)
            bridge.adopt(task)
            bridge.opened(subprotocol: "", response: nil)
        }
        var options = RequestOptions()
        options.upgrade = ProtocolUpgrade(output: OutgoingBytes(), messageLimit: limit)
        let request = try HTTPRequest(.get, url: "https://a.example/chat")
        let response = try await transport.send(request, in: ExchangeContext(options: options))
        return (try #require(response.messageConnection), task, transport)
    }

    @Test func messagesAndTheCloseHandshake() async throws {
        let transport = echo(subprotocol: "v1")
        var options = WebSocket.Options()
        options.subprotocols = ["v2", "v1"]
        let socket = try await client(transport).webSocket(.get("/chat"), options: options)
        #expect(socket.subprotocol == "v1" && socket.response.status == 101)
        #expect(socket.response.headers["X-A"] == "1")
        try await socket.send("hello")
        try await socket.send(Data([1, 2]))
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        #expect(try await messages.next() == .binary(Data([1, 2])))
        for _ in 0..<3 { _ = try await socket.ping() }
        await socket.close(.init(rawValue: 4001), reason: "enough")
        #expect(socket.closing?.code.rawValue == 4001 && socket.closing?.reason == "enough")
        #expect(socket.closing?.isByServer == false)
        #expect(await eventually { transport.finished == 1 && transport.watched == 0 })
    }

    @Test func aRefusalHasItsStatusAndFields() async throws {
        let transport = FakeSocketTransport { bridge in
            let task = FakeSocketTask()
            task.connect(bridge)
            bridge.adopt(task)
            task.complete(URLError(.badServerResponse), status: 403)
        }
        let client = client(transport)
        let error = await #expect(throws: NetworkError.self) { try await client.webSocket(.get("/chat")) }
        #expect(error?.reason == .status(.forbidden))
        #expect(error?.response?.headers["X-A"] == "1" && error?.response?.body.isEmpty == true)
        #expect(transport.finished == 1)
    }

    @Test func theReasonOfARefusedCertificateIsKept() async throws {
        let pins = NetworkError(.secureConnectionFailed(.pinMismatch))
        let transport = FakeSocketTransport { bridge in
            let task = FakeSocketTask()
            task.connect(bridge)
            bridge.adopt(task)
            bridge.recordCause(pins)
            task.complete(URLError(.cancelled))
        }
        let client = client(transport)
        let error = await #expect(throws: NetworkError.self) { try await client.webSocket(.get("/chat")) }
        #expect(error?.reason == pins.reason && error?.request != nil)
    }

    @Test func cancellationAndDeadlinesEndTheOpening() async throws {
        let task = FakeSocketTask(isEcho: true)
        let transport = FakeSocketTransport { bridge in
            task.connect(bridge)
            bridge.adopt(task)
        }
        let client = client(transport)
        let call = Task { try await client.webSocket(.get("/chat")) }
        #expect(await eventually { transport.watched == 1 })
        call.cancel()
        #expect(await reason(of: call) == .cancelled)
        #expect(await eventually { task.calls == ["cancel"] && transport.finished == 1 })

        let second = FakeSocketTask(isEcho: true)
        let slow = FakeSocketTransport { bridge in
            second.connect(bridge)
            bridge.adopt(second)
        }
        let impatient = self.client(slow, timeouts: Timeouts(firstByte: .milliseconds(20)))
        #expect(await failureReason { try await impatient.webSocket(.get("/chat")) } == .timedOut(.firstByte))
        #expect(await eventually { second.calls == ["cancel"] && slow.finished == 1 && slow.watched == 0 })
    }

    @Test func aCallThatEndsBeforeItsTaskCancelsTheTask() async throws {
        let task = FakeSocketTask(isEcho: true)
        let transport = FakeSocketTransport { bridge in
            bridge.fail(NetworkError(.refused(by: .shutdown)))
            task.connect(bridge)
            bridge.adopt(task)
        }
        let client = client(transport)
        #expect(await failureReason { try await client.webSocket(.get("/chat")) } == .refused(by: .shutdown))
        #expect(task.calls == ["cancel"] && transport.finished == 1)
    }

    @Test func anUnusedResponseCancelsItsTask() async throws {
        let task: FakeSocketTask
        do {
            let (connection, fake, _) = try await open()
            #expect(connection.subprotocol == nil && connection.closing == nil)
            task = fake
        }
        #expect(await eventually { task.calls == ["cancel"] })
    }

    @Test func aWaitingSenderIsResumedOnce() async throws {
        let (connection, task, _) = try await open()
        let sender = Task { try await connection.send(.text("a")) }
        #expect(await eventually { task.calls == ["send 1"] })
        task.finishSending()
        try await sender.value
        let pinging = Task { try await connection.ping() }
        let forgotten = Task { try await connection.send(.text("bc")) }
        #expect(await eventually { task.calls.count == 3 })
        task.complete(lost)
        #expect(await reason(of: pinging) == .connectionLost(.requestMayHaveArrived))
        #expect(await reason(of: forgotten) == .connectionLost(.requestMayHaveArrived))
        task.finishSending(lost)
        task.finishSending()
        let late = Task { try await connection.send(.text("late")) }
        #expect(await reason(of: late) == .connectionLost(.requestMayHaveArrived))
        #expect(task.calls.count == 3, "nothing is sent on a lost connection")
    }

    @Test func cancellationEndsOnlyTheWait() async throws {
        let (connection, task, _) = try await open()
        let sender = Task { try await connection.send(.text("a")) }
        #expect(await eventually { task.calls == ["send 1"] })
        sender.cancel()
        #expect(await reason(of: sender) == .cancelled)
        let reader = Task { try await connection.receive() }
        #expect(await eventually { task.waitingReceivers == 1 })
        let second = Task { try await connection.receive() }
        #expect(await reason(of: second) == .invalidRequest)
        let third = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await connection.receive()
        }
        #expect(await reason(of: third) == .cancelled)
        task.deliver(.success(.text("first")))
        #expect(try await reader.value == .text("first"), "the cancellation of another reader changes nothing")
        let next = Task { try await connection.receive() }
        #expect(await eventually { task.waitingReceivers == 1 })
        next.cancel()
        #expect(await reason(of: next) == .cancelled)
        task.deliver(.success(.text("kept")))
        #expect(try await connection.receive() == .text("kept"))
        #expect(task.calls == ["send 1", "receive", "receive"])
        let tooLong = Task { try await connection.send(.text("long")) }
        #expect(await eventually { task.calls.last == "send 4" })
        task.finishSending()
        task.finishSending(NSError(domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.EMSGSIZE.rawValue)))
        #expect(await reason(of: tooLong) == .invalidRequest)
    }

    @Test func pingsAreLimited() async throws {
        let (connection, task, _) = try await open()
        let pings = (0..<64).map { _ in Task { try await connection.ping() } }
        #expect(await eventually { task.calls.count == 64 })
        let more = Task { try await connection.ping() }
        #expect(await reason(of: more) == .invalidRequest)
        connection.cancel()
        for ping in pings { #expect(await reason(of: ping) == .cancelled) }
    }

    @Test("The end is known although URLSession reports only a part of it, and nothing is kept")
    func partialEnds() async throws {
        weak var kept: FakeSocketTask?
        do {
            let (connection, task, transport) = try await open()
            kept = task
            let reader = Task { try await connection.receive() }
            #expect(await eventually { task.waitingReceivers == 1 })
            // The completion without an end of the receive call (seen with connections that broke).
            task.complete(lost)
            #expect(await reason(of: reader) == .connectionLost(.requestMayHaveArrived))
            #expect(transport.finished == 1)
        }
        #expect(await eventually { kept == nil })
        let (connection, task, _) = try await open()
        let reader = Task { try await connection.receive() }
        #expect(await eventually { task.waitingReceivers == 1 })
        // The end of the receive call without anything else.
        task.deliver(.failure(lost))
        #expect(await reason(of: reader) == .connectionLost(.requestMayHaveArrived))
        // The bridge notifies the reader first and cancels the task afterwards.
        #expect(await eventually { task.calls == ["receive", "cancel"] })
        task.disconnect()
    }

    @Test func aMessageThatIsTooLarge() async throws {
        let transport = echo()
        var options = WebSocket.Options()
        options.maximumMessageSize = 4
        let socket = try await client(transport).webSocket(.get("/chat"), options: options)
        try await socket.send("12345")
        let error = await #expect(throws: NetworkError.self) { for try await _ in socket {} }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(error?.description.contains("/chat") == true)
        #expect(await eventually { transport.finished == 1 })
    }

    @Test("All callbacks at the same time, from several threads, end the socket once")
    func race() async throws {
        for round in 0..<300 {
            let task = FakeSocketTask()
            let transport = FakeSocketTransport(grace: .milliseconds(5)) { bridge in
                task.connect(bridge)
                bridge.adopt(task)
                DispatchQueue.global().async { bridge.opened(subprotocol: nil, response: nil) }
                DispatchQueue.global().async { bridge.closed(code: 1000 + round % 2, reason: nil) }
                if round % 3 == 0 { DispatchQueue.global().async { task.complete(nil, status: 101) } }
            }
            let call = Task {
                let request = try HTTPRequest(.get, url: "https://a.example/chat")
                let response = try await transport.send(request, in: ExchangeContext())
                guard let connection = response.messageConnection else { return }
                async let pong: Void = connection.ping()
                async let sent: Void = connection.send(.text("a"))
                task.deliver(.success(.text("b")))
                task.deliver(.failure(lost))
                while try await connection.receive() != nil {}
                connection.close(.normal, reason: "")
                _ = try? await (pong, sent)
            }
            if round % 5 == 0 { call.cancel() }
            // Returning at all is what counts: a lost continuation would wait until the time limit of the suite.
            _ = await reason(of: call)
            task.complete(lost)
            // A call that was cancelled before it began has no task.
            #expect(await eventually { transport.finished == transport.begun }, "round \(round)")
        }
    }
}
