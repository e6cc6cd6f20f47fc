// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct ImmediateObserverTests {
    /// Counts the events that it receives, as an observer and as an interceptor.
    private final class Counter: ImmediateObserver, Interceptor {
        let ends = Locked(0)
        let events = Locked(0)

        var traits: InterceptorTraits {
            var traits = InterceptorTraits(placement: .wire)
            traits.observer = self
            return traits
        }

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            events.withLock { $0 += 1 }
            if case .succeeded = event { ends.withLock { $0 += 1 } }
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

    @Test("An immediate observer in the configuration needs no queue")
    func configuration() async throws {
        let counter = Counter()
        let client = APIClient.testing(transport, baseURL: "https://a.test", observers: [counter])
        for _ in 0..<10 { try await client.send(.get("/")) }
        #expect(counter.ends.withLock { $0 } == 10)
        // began, sent, answered, measured, succeeded
        #expect(counter.events.withLock { $0 } == 50)
    }
}
