// SPDX-License-Identifier: MIT

public import CurlewCore

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
