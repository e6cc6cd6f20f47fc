// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Passes on the interim responses with status 104 of one call. Called on the thread that receives them.
///
/// Those that arrive while the machine is busy become one, so that a server that sends many costs no memory.
final class ResumptionObserver: ImmediateObserver {
    private struct State {
        var url = ""
        /// The fields that have arrived since `take`.
        var headers: HTTPHeaders?
    }

    private let state = Locked(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Has an element when `take` has something to return. Ends with the request.
    let signals: AsyncStream<Void>

    private static let fields: [HTTPField.Name] = [.location, "Upload-Limit", "Upload-Offset"]

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var kinds: ExchangeEvent.Kinds { .interim }

    /// Notes the URL against which the URL of the upload is resolved.
    func begin(_ url: String) {
        state.withLock { $0.url = url }
    }

    func end() {
        signal.finish()
    }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard case .interim(let status, let headers) = event, status.code == 104 else { return }
        state.withLock { state in
            for name in Self.fields {
                guard let value = headers[name] else { continue }
                state.headers = state.headers ?? HTTPHeaders()
                state.headers?[name] = value
            }
        }
        signal.yield()
    }

    /// Returns the latest fields that have arrived since the last call.
    func take() -> UploadInterim? {
        state.withLock { state in
            defer { state.headers = nil }
            return state.headers.map { UploadInterim(headers: $0, url: state.url) }
        }
    }
}
