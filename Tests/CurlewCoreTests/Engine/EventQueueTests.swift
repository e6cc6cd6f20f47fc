// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct EventQueueTests {
    /// Waits in its first event until it may continue, and records what it receives.
    private final class Slow: RequestObserver {
        private let gate = DispatchSemaphore(value: 0)
        private let isHeld: Locked<Bool>
        private let words = Locked<[String]>([])
        let holds = SharedResult<Void>()

        init(isHeld: Bool = true) { self.isHeld = Locked(isHeld) }

        var heard: [String] { words.withLock { $0 } }

        func goOn() { gate.signal() }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            let mustWait = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            if mustWait {
                holds.finish(.success(()))
                gate.wait()
            }
            let count = if case .lost(let count) = event { " \(count)" } else { "" }
            // Each case of an event has a payload, whose label is the name of the case.
            let word = Mirror(reflecting: event).children.first?.label ?? "\(event)"
            words.withLock { $0.append(word + count) }
        }
    }

    private let context = ExchangeContext()

    @Test("An observer continues, and a waiter waits for all earlier events")
    func order() async throws {
        let observer = Slow()
        let queue = EventQueue([observer])
        queue.receive(.other(.joined(1)), in: context)
        try await observer.holds.wait()
        queue.receive(.other(.trailers([:])), in: context)
        let isDelivered = Locked(false)
        let waiting = Task {
            await queue.allDelivered()
            isDelivered.withLock { $0 = true }
        }
        #expect(observer.heard.isEmpty)
        #expect(!isDelivered.withLock { $0 })
        observer.goOn()
        await waiting.value
        #expect(observer.heard == ["joined", "trailers"])
        await queue.allDelivered()
    }

    @Test("Of too many events the newest are dropped, and their number is reported instead")
    func lost() async throws {
        let observer = Slow()
        let queue = EventQueue([observer], capacity: 2)
        queue.receive(.other(.joined(1)), in: context)
        try await observer.holds.wait()
        for _ in 0..<5 { queue.receive(.other(.joined(2)), in: context) }
        observer.goOn()
        await queue.allDelivered()
        queue.receive(.other(.trailers([:])), in: context)
        await queue.allDelivered()
        #expect(observer.heard == ["joined", "joined", "joined", "lost 3", "trailers"])
    }

    @Test("A hanging observer delays the end of a call for a bounded time, and gets the rest later")
    func hanging() async throws {
        let observer = Slow()
        let queue = EventQueue([observer], patience: .milliseconds(20))
        for number in 1...3 { queue.receive(.other(.joined(UInt64(number))), in: context) }
        await queue.allDelivered()
        await queue.allDelivered()
        #expect(observer.heard.isEmpty)
        observer.goOn()
        let patient = EventQueue([Slow(isHeld: false)])
        await patient.allDelivered()
        try await yieldUntil { observer.heard.count >= 3 }
        #expect(observer.heard == ["joined", "joined", "joined"])
    }

    @Test("A waiting event keeps no transfer alive")
    func transfers() async throws {
        let (observer, ended) = (Slow(), SharedResult<Void>())
        let context = ExchangeContext(observers: [observer])
        let request = try HTTPRequest(url: "https://a.test/")
        context.record(.began(request))
        try await observer.holds.wait()
        do {
            let chunks = AsyncStream<Data> { source in source.yield(Data("x".utf8)) }
            let body = ResponseBody(chunks).onEnd { _ in ended.finish(.success(())) }
            context.record(.succeeded(HTTPResponse(body: body), after: .zero))
        }
        try await ended.wait()
        #expect(observer.heard.isEmpty)
        observer.goOn()
        await context.eventsDelivered()
        #expect(observer.heard == ["began", "succeeded"])
    }

    @Test("A client and those made from it have one queue, and one without observers has none")
    func queues() throws {
        let client = APIClient.mock(configuration: .init(observers: [Slow(isHeld: false)])) { _ in }
        let queue = try #require(client.core.events)
        #expect(client.with(headers: ["X": "1"]).core.events === queue)
        #expect(client.adding(.onError { _, _ in }).core.events === queue)
        #expect(APIClient.mock { _ in }.core.events == nil)
    }

    @Test("Observers are called outside of every task, so that none waits for them")
    func thread() async throws {
        let places = EventLog { _, _ in withUnsafeCurrentTask { $0 != nil } }
        let client = APIClient.mock(configuration: .init(observers: [places])) {
            $0.onAny { _ in .status(204) }
        }
        try await client.send(Request<Void>.get("/"))
        #expect(Set(places.entries) == [false])
    }

    @Test("A mock is measured like a transport, on the call's clock, and a stub's own metrics stay")
    func mock() async throws {
        let log = EventLog { event, _ -> ExchangeMetrics? in
            if case .measured(let metrics) = event { metrics } else { nil }
        }
        let client = APIClient.mock(configuration: .init(observers: [log], time: ManualClock.skippingWaits)) {
            $0.on(.get, "/slow", delay: .milliseconds(30), .text("late"))
            $0.on(.get, "/own") { _ in
                var response = HTTPResponse.text("own")
                response.metrics.bytesReceived = 12
                return response
            }
        }
        let response = try await client.response(for: Request<Data>.get("/slow"))
        #expect(response.metrics.total == .milliseconds(30))
        try await client.send(Request<Data>.get("/own"))
        _ = try? await client.send(Request<Data>.get("/none"))
        #expect(log.entries.map(\.total) == [.milliseconds(30), .zero, .zero])
        #expect(log.entries.map(\.bytesReceived) == [nil, 12, nil])
    }

    @Test("An exchange that an interceptor leaves is reported as cancelled before the call's end")
    func leftBehind() async throws {
        let (observer, gate) = (Slow(isHeld: false), SharedResult<Void>())
        let begun = SharedResult<Void>()
        let ended = SharedResult<Void>()
        let careless = Careless(begun: begun, ended: ended)
        let client = APIClient(
            baseURL: "https://a.test", pipeline: [careless],
            transport: ClosureTransport { _, _ in
                begun.finish(.success(()))
                try await gate.wait()
                return .status(200)
            }, configuration: APIClient.Configuration(observers: [observer]))
        try await client.send(Request<Void>.get("/"))
        let heard = observer.heard
        #expect(heard == ["began", "sent", "attemptFailed", "measured", "succeeded"])
        gate.finish(.success(()))
        try await ended.wait()
        await client.core.events?.queue?.allDelivered()
        #expect(observer.heard == heard)
    }

    /// Sends on a task of its own and answers by itself.
    private struct Careless: Interceptor {
        let begun: SharedResult<Void>
        let ended: SharedResult<Void>

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            Task {
                _ = try? await next(request)
                ended.finish(.success(()))
            }
            try await begun.wait()
            return .status(204)
        }
    }
}
