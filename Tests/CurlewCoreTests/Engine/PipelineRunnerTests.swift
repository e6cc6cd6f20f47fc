// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct PipelineRunnerTests {
    struct Own: Error, Equatable {}

    /// Records each event as one word.
    final class Listener: RequestObserver {
        private let events = Locked<[String]>([])

        var heard: [String] { events.withLock { $0 } }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            let text =
                switch event {
                case .began(let request): "began \(request.method)"
                case .joined(let id): "joined \(id)"
                case .sent(let request): "sent \(request.headers["X"] ?? "-")"
                case .answered(let response): "answered \(response.status.code)"
                case .attemptFailed(let error): "attemptFailed \(error.label)"
                case .tried(let attempt): "tried \(attempt)"
                case .feature(RedirectPolicy.Event.followed(let redirect)): "redirected \(redirect)"
                case .feature(RedirectPolicy.Event.kept(let response, let reason)):
                    "redirectKept \(response.status.code) \(reason)"
                case .measured: "measured"
                case .warned(let warning): "warned \(warning)"
                case .succeeded(let response, let time): "succeeded \(response.status.code) \(time.brief)"
                case .failed(let error, let time): "failed \(error.label) \(time.brief)"
                default: "something else"
                }
            events.withLock { $0.append(text) }
        }
    }

    let listener = Listener()
    let clock = ManualClock()

    func context() -> ExchangeContext {
        ExchangeContext(routeName: "GetX", observers: [listener], time: clock)
    }

    func request() throws -> HTTPRequest { try HTTPRequest(url: "https://a.test/x?token=hunter2") }

    @Test("A response is delivered whatever its status, and events come in the order of the exchange")
    func success() async throws {
        let hook: any Interceptor = .onRequest { request, _ in request.headers["X"] = "changed" }
        let exchanger = Pipeline.Runner(
            pipeline: [hook],
            transport: ClosureTransport { [clock] _, _ in
                clock.advance(by: .milliseconds(5))
                return HTTPResponse(status: .notFound)
            })
        #expect(try await exchanger.exchange(request(), in: context()).status == .notFound)
        #expect(listener.heard == ["began GET", "sent changed", "answered 404", "measured", "succeeded 404 5 ms"])
    }

    @Test("An error of the transport is the call's error, with the request and the route in it")
    func failure() async throws {
        let exchanger = Pipeline.Runner(
            pipeline: .empty, transport: ClosureTransport { _, _ in throw NetworkError(.unreachable, detail: "no") })
        let error = await #expect(throws: NetworkError.self) { try await exchanger.exchange(request(), in: context()) }
        #expect(error?.reason == .unreachable)
        #expect(error?.request?.description == "GET https://a.test/x?token=REDACTED")
        #expect(error?.routeName == "GetX")
        #expect(
            listener.heard == [
                "began GET", "sent -", "attemptFailed unreachable", "measured", "failed unreachable 0 µs",
            ])
    }

    @Test("Any other error is wrapped once, however many interceptors it passes")
    func wrapping() async throws {
        let passing: any Interceptor = .onError { _, _ in }
        let exchanger = Pipeline.Runner(
            pipeline: [passing, passing], transport: ClosureTransport { _, _ in throw Own() })
        let error = await #expect(throws: NetworkError.self) { try await exchanger.exchange(request(), in: context()) }
        #expect(error?.reason == .interceptor)
        #expect(error?.underlying as? Own == Own())
    }

    @Test("An error that names its own request keeps it")
    func ownRequest() async throws {
        let other = NetworkError.RequestLine(try HTTPRequest(.post, url: "https://token.test/refresh"))
        let exchanger = Pipeline.Runner(
            pipeline: .empty, transport: ClosureTransport { _, _ in throw NetworkError(.unreachable, request: other) })
        let error = await #expect(throws: NetworkError.self) { try await exchanger.exchange(request(), in: context()) }
        #expect(error?.request == other)
    }

    @Test("Cancellation is its own reason, from wherever it is noticed")
    func cancellation() async throws {
        let exchanger = Pipeline.Runner(
            pipeline: .empty, transport: ClosureTransport { _, _ in throw CancellationError() })
        let error = await #expect(throws: NetworkError.self) { try await exchanger.exchange(request(), in: context()) }
        #expect(error?.isCancelled == true)
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Pipeline.Runner(pipeline: .empty, transport: Unreached()).exchange(
                request(), in: context())
        }
        let early = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(early?.isCancelled == true)
    }

    @Test("A pipeline that cannot work throws what is wrong with it, and nothing is sent")
    func problems() async throws {
        let exchanger = Pipeline.Runner(pipeline: [.bearer { "t" }], transport: Unreached())
        #expect(exchanger.problems.count == 1)
        let error = await #expect(throws: NetworkError.self) { try await exchanger.exchange(request(), in: context()) }
        #expect(error?.reason == .configuration)
        #expect(error?.detail == exchanger.problems[0])
        #expect(listener.heard == ["began GET", "failed configuration 0 µs"])
    }

    @Test("Without observers no event is made")
    func unobserved() async throws {
        var context = ExchangeContext()
        #expect(!context.isObserved)
        context.record(
            {
                Issue.record("an event was built without an observer")
                return .measured(ExchangeMetrics())
            }())
        context.attempt = 2
        #expect(context.attempt == 2)
    }

    @Test("The context has the call's timeouts and limits, else the client's, and the first deadline")
    func contextValues() {
        var options = RequestOptions()
        options.timeouts = Timeouts(total: .seconds(3))
        options.limits = Limits(responseBody: 5)
        var context = ExchangeContext(options: options, time: clock)
        #expect(context.timeouts.total == .seconds(3))
        #expect(context.limits.responseBody == 5)
        #expect(context.deadline.remaining(at: clock.now) == .seconds(3))
        context.attemptDeadline = SystemTime.Deadline(.seconds(1), after: clock.now)
        #expect(context.deadline.remaining(at: clock.now) == .seconds(1))
        let plain = ExchangeContext(timeouts: .none, time: clock)
        #expect(plain.deadline == .never)
        #expect(plain.limits == .standard)
        #expect(plain.id > context.id)
    }

    private struct Unreached: Transport {
        func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
            Issue.record("the transport was asked")
            return HTTPResponse()
        }
    }
}
