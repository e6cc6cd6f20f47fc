// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct EventSinkTests {
    /// Counts the events that it receives, as an observer and as an interceptor.
    private final class Counter: EventSink, RequestObserver, Interceptor {
        let detail: CallEvent.Detail
        let ends = Locked(0)
        let names = Locked<[String]>([])

        init(_ detail: CallEvent.Detail = .connections) { self.detail = detail }

        var traits: InterceptorTraits {
            var traits = InterceptorTraits(placement: .wire)
            traits.sink = self
            return traits
        }

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }

        func receive(_ event: CallEvent, in context: ExchangeContext) {
            let name =
                switch event {
                case .began: "began"
                case .sent: "sent"
                case .answered: "answered"
                case .ended: "ended"
                case .succeeded: "succeeded"
                default: "other"
                }
            if name == "succeeded" { ends.withLock { $0 += 1 } }
            names.withLock { $0.append(name) }
        }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            Issue.record("A sink in the configuration has no queue.")
        }
    }

    private final class Queued: RequestObserver {
        let ends = Locked(0)

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            if case .succeeded = event { ends.withLock { $0 += 1 } }
        }
    }

    private let transport = MockTransport { $0.onAny { _ in HTTPResponse(status: .ok) } }

    @Test("An interceptor that observes is notified before the call returns, also in a derived client")
    func interceptors() async throws {
        let (inner, outer, queued) = (Counter(), Counter(), Queued())
        let client = APIClient.testing(transport, baseURL: "https://a.test", pipeline: [inner], observers: [queued])
        try await client.send(.get("/"))
        #expect(inner.ends.withLock { $0 } == 1)
        #expect(queued.ends.withLock { $0 } == 1)
        let derived = client.adding(outer, at: .logging)
        try await derived.send(.get("/"))
        #expect(inner.ends.withLock { $0 } == 2)
        #expect(outer.ends.withLock { $0 } == 1)
        #expect(queued.ends.withLock { $0 } == 2, "observers of the configuration receive each event once")
        try await client.with(headers: ["X-Test": "1"]).send(.get("/"))
        #expect(inner.ends.withLock { $0 } == 3)
        #expect(outer.ends.withLock { $0 } == 1)
    }

    @Test("A sink in the configuration receives the events of its detail in order, without a queue")
    func configuration() async throws {
        let (all, calls) = (Counter(), Counter(.calls))
        let client = APIClient.testing(transport, baseURL: "https://a.test", observers: [all, calls])
        for _ in 0..<2 { try await client.send(.get("/")) }
        let call = ["began", "sent", "answered", "ended", "succeeded"]
        #expect(all.names.withLock { $0 } == call + call)
        let summary = ["began", "ended", "succeeded"]
        #expect(calls.names.withLock { $0 } == summary + summary)
    }
}
