// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Passes on the interim responses with status 104 of one call. Called on the thread that receives them.
///
/// Those that arrive while the machine is busy become one, so that a server that sends many costs no memory.
final class ResumptionObserver: ImmediateObserver {
    private struct State {
        /// The URL of the request on the wire, which differs from that of the call after a redirect.
        var url = ""
        /// The fields that have arrived since `take`.
        var interim: UploadInterim?
    }

    private let state = Locked(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Has an element when `take` has something to return. Ends with the request.
    let signals: AsyncStream<Void>

    private static let fields: [HTTPField.Name] = [.location, "Upload-Limit", "Upload-Offset"]

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var kinds: ExchangeEvent.Kinds { [.interim, .heads] }

    /// Notes the URL against which the URL of the upload is resolved.
    func requestSent(_ request: HTTPRequest, in context: ExchangeContext) {
        let url = request.urlString
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
                state.interim = state.interim ?? UploadInterim(headers: HTTPHeaders(), url: state.url)
                state.interim?.url = state.url
                state.interim?.headers[name] = value
            }
        }
        signal.yield()
    }

    /// Returns the latest fields that have arrived since the last call.
    func take() -> UploadInterim? {
        state.withLock { state in
            defer { state.interim = nil }
            return state.interim
        }
    }
}
