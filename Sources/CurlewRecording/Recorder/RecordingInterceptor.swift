// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Connects a recorder to a client: it receives the events of the client, and copies bodies on the wire. For the rules,
/// see `.recording(_:)`.
struct RecordingInterceptor: Interceptor, EventSink {
    let recorder: FlightRecorder

    /// Without bodies to copy, the interceptor only observes.
    var traits: InterceptorTraits {
        var traits = InterceptorTraits(.wire)
        traits.sink = self
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
    var detail: CallEvent.Detail { .requests }

    func receive(_ event: CallEvent, in context: ExchangeContext) {
        switch event {
        case .began(let request): recorder.store { $0.began(request, in: context) }
        case .sent(let request):
            let bodies = RecordedBodies.of(recorder, in: context)
            recorder.store { $0.sent(request, bodies, in: context) }
        case .answered(let response): recorder.store { $0.received(response, in: context) }
        case .attemptFailed(let error): recorder.store { $0.requestFailed(error, in: context) }
        case .ended(_, _, _, _, let metrics): recorder.store { $0.measured(metrics, in: context) }
        case .succeeded(let request, let response, let duration, _):
            recorder.store { $0.succeeded(request, with: response, after: duration, in: context) }
        case .failed(let request, let error, let duration, _):
            recorder.fail(request, with: error, after: duration, in: context)
        case .other(let event): recorder.store { $0.take(event, in: context) }
        }
    }
}

extension RecordingInterceptor: CustomStringConvertible {
    /// The name of the interceptor, such as `Recording(bodies up to 65536 bytes)`.
    var description: String {
        recorder.bodies.limit > 0 ? "Recording(bodies up to \(recorder.bodies.limit) bytes)" : "Recording"
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Records the calls of the client in `recorder`: every request on the wire, its response, and the decisions of the
    /// client.
    ///
    /// The interceptor is the innermost one and changes neither the request nor the response. If the recorder keeps
    /// bodies, a streamed response body is copied while it is read, up to the limit of the recorder: its chunks,
    /// back-pressure, errors and cancellation are unchanged.
    ///
    /// - `recorder`: receives the recording. Several clients may share one.
    public static func recording(_ recorder: FlightRecorder) -> BuiltInInterceptor {
        BuiltInInterceptor(RecordingInterceptor(recorder: recorder))
    }
}
