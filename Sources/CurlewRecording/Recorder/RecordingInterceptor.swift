// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Connects a recorder to a client: it receives the events of the client, and copies bodies on the wire. For the rules,
/// see `.recording(_:)`.
struct RecordingInterceptor: Interceptor, ImmediateObserver {
    let recorder: FlightRecorder

    /// Without bodies to copy, the interceptor only observes.
    var traits: InterceptorTraits {
        var traits = InterceptorTraits(.wire)
        traits.observer = self
        traits.onlyObserves = recorder.bodies.limit <= 0
        return traits
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard recorder.bodies.limit > 0 else { return try await next(request) }
        let bodies = RecordedBodies(recorder, call: next.context.id, secrets: next.context.secrets)
        var context = next.context
        context.facts[RecordedBodies.Key.self].append(bodies)
        var response = try await next(bodies.recording(request), context: context)
        response.body = bodies.recording(response)
        return response
    }
}

extension RecordingInterceptor {
    var kinds: ExchangeEvent.Kinds {
        [.summaries, .heads, .interim, .trailers, .tried, .joined, .feature, .warned]
    }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        recorder.store { $0.take(event, in: context) }
    }

    func callBegan(_ request: HTTPRequest, in context: ExchangeContext) {
        recorder.store { $0.began(request, in: context) }
    }

    func requestSent(_ request: HTTPRequest, in context: ExchangeContext) {
        let bodies = RecordedBodies.of(recorder, in: context)
        recorder.store { $0.sent(request, bodies, in: context) }
    }

    func responseReceived(_ response: HTTPResponse, in context: ExchangeContext) {
        recorder.store { $0.received(response, in: context) }
    }

    func requestFailed(_ error: NetworkError, in context: ExchangeContext) {
        recorder.store { $0.requestFailed(error, in: context) }
    }

    func requestEnded(
        _ request: SentRequest, _ outcome: RequestOutcome, _ metrics: ExchangeMetrics, in context: ExchangeContext
    ) {
        recorder.store { $0.measured(metrics, in: context) }
    }

    func callSucceeded(
        _ request: HTTPRequest, with response: HTTPResponse, _ outcome: CallOutcome, in context: ExchangeContext
    ) {
        recorder.store { $0.succeeded(request, with: response, after: outcome.duration, in: context) }
    }

    func callFailed(
        _ request: HTTPRequest, with error: NetworkError, _ outcome: CallOutcome, in context: ExchangeContext
    ) {
        recorder.fail(request, with: error, after: outcome.duration, in: context)
    }

    func callNotSent(_ error: NetworkError, after duration: Duration, in context: ExchangeContext) {
        recorder.fail(nil, with: error, after: duration, in: context)
    }
}

extension RecordingInterceptor: CustomStringConvertible {
    /// The name of the interceptor, such as `Recording(bodies up to 65536 bytes)`.
    var description: String {
        recorder.bodies.limit > 0 ? "Recording(bodies up to \(recorder.bodies.limit) bytes)" : "Recording"
    }
}
