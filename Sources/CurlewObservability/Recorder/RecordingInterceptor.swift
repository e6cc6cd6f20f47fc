// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Connects a recorder to a client: it receives the events of the client, and copies bodies on the wire. For the rules,
/// see `.recording(_:)`.
struct RecordingInterceptor: Interceptor, ImmediateObserver {
    let recorder: FlightRecorder

    var placement: Placement { .wire }

    /// False: a preview sends nothing that could be recorded.
    var runsInPreview: Bool { false }

    /// Returns `.anonymous`, because the interceptor changes nothing.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard recorder.bodies.limit > 0 else { return try await next(request) }
        let bodies = RecordedBodies(recorder, call: next.context.id, secrets: next.context.secrets)
        var context = next.context
        context.facts[RecordedBodies.Key.self] = bodies
        var response = try await next(bodies.recording(request), context: context)
        response.body = bodies.recording(response)
        return response
    }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        recorder.record(event, in: context)
    }
}

// The interceptor attaches no credential.
extension RecordingInterceptor: ScopedInterceptor {}

extension RecordingInterceptor: CustomStringConvertible {
    /// The name of the interceptor, such as `Recording(bodies up to 65536 bytes)`.
    var description: String {
        recorder.bodies.limit > 0 ? "Recording(bodies up to \(recorder.bodies.limit) bytes)" : "Recording"
    }
}
