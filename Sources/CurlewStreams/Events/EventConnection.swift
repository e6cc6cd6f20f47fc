// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// One connection of a stream. A task pulls a chunk from the response body only when the reader requests one, so the
/// connection can be closed at any time, even while the body waits.
final class EventConnection: Sendable {
    /// The state that the reader and the pulling task share.
    private struct State: Sendable {
        /// The start of the reader's wait; nil while it does not wait.
        var waitingSince: SystemTime.Instant?
        var chunk: Data?
        var end: Result<Data?, NetworkError>?

        mutating func finish(_ result: Result<Data?, NetworkError>) {
            if end == nil { end = result }
        }
    }

    let call: OpenResponse
    private let opened: SystemTime.Instant
    private let state: Monitor<State>
    private let tasks: [Task<Void, Never>]

    init(_ call: OpenResponse, readTimeout: Duration?) {
        self.call = call
        let state = Monitor(State())
        self.state = state
        let body = call.response.body
        let time = call.context.time
        let opened = time.now
        self.opened = opened
        let pump = Task {
            do {
                var chunks = body.makeAsyncIterator()
                while await Self.isAsked(state), let chunk = try await chunks.next() {
                    state.withLock { ($0.waitingSince, $0.chunk) = (nil, chunk) }
                }
                state.withLock { $0.finish(.success(nil)) }
            } catch {
                state.withLock { $0.finish(.failure(NetworkError(error))) }
            }
        }
        let watch = readTimeout.map { timeout in
            Task {
                var end = opened.advanced(by: timeout)
                while (try? await time.alarm(at: end)) != nil {
                    let now = time.now
                    end = (state.withLock { $0.waitingSince } ?? now).advanced(by: timeout)
                    guard end <= now else { continue }
                    let error = NetworkError(
                        .timedOut(.idle), detail: "The event stream sent nothing for \(timeout.brief).",
                        hint: "Let the server send comments, or set EventStream.Options.readTimeout.")
                    state.withLock { $0.finish(.failure(error)) }
                    pump.cancel()
                    body.cancel()
                    return
                }
            }
        }
        tasks = [pump] + (watch.map { [$0] } ?? [])
    }

    deinit { end() }

    /// Waits until the reader requests a chunk. Returns false at the end.
    private static func isAsked(_ state: Monitor<State>) async -> Bool {
        await state.waitThroughCancellation { $0.end != nil ? false : $0.waitingSince != nil ? true : nil }
    }

    /// Whether the connection has been open for so long that bytes without an event show that it works.
    var isStable: Bool { opened.duration(to: call.context.time.now) >= ReconnectionDelay.stableTime }

    /// Returns the next chunk, or nil at the end of the body. Cancelling the task closes the connection.
    func next() async throws(NetworkError) -> Data? {
        let now = call.context.time.now
        state.withLock { $0.waitingSince = now }
        let result = await state.wait { state -> Result<Data?, NetworkError>? in
            guard let chunk = state.chunk else { return state.end }
            state.chunk = nil
            return .success(chunk)
        }
        if result == nil { end() }
        do throws(NetworkError) {
            return try (result ?? .failure(NetworkError(.cancelled))).get()
        } catch {
            throw call.named(error)
        }
    }

    /// Closes the connection. A reader that waits receives `.cancelled`.
    func end() {
        state.withLock { $0.finish(.failure(NetworkError(.cancelled))) }
        for task in tasks { task.cancel() }
        call.response.body.cancel()
    }
}

/// The calls that open the connections of a stream.
struct EventOpening: Sendable {
    let client: APIClient
    let route: any Route
    let options: EventStream.Options

    /// An ID that is longer is not sent, because servers refuse large fields.
    private static let maximumIDLength = 8 << 10

    var reconnects: Bool {
        options.reconnects ?? (route.method == .get || route.method == .head)
    }

    /// Opens a connection. Returns nil if the server ends the stream with 204.
    func open(lastEventID: String) async throws(NetworkError) -> OpenResponse? {
        let changes = APIClient.CallChanges { call in
            call.isLive = true
            call.timeouts.idle = nil
            call.limits.responseBody = .max
        } request: { [route] request, _ throws(NetworkError) in
            if !route.headers.contains(.accept) { request.headers[.accept] = "text/event-stream" }
            if !route.headers.contains(.cacheControl) { request.headers[.cacheControl] = "no-cache" }
            if !lastEventID.isEmpty, Self.isField(lastEventID) { request.headers["Last-Event-ID"] = lastEventID }
        }
        let call = try await OpenResponse(of: route, from: client, changing: changes)
        if call.response.status == .noContent {
            await call.end()
            return nil
        }
        let type = call.response.headers[.contentType]
        guard type.flatMap(MediaType.init)?.essence == MediaType.eventStream.essence else {
            await call.end()
            throw call.named(
                NetworkError(
                    .badResponse,
                    detail: "The response is not an event stream: its Content-Type is "
                        + (type.map { "\"\($0.prefix(100))\"." } ?? "missing."),
                    hint: "Check that the endpoint sends text/event-stream for this request."))
        }
        return call
    }

    private static func isField(_ id: String) -> Bool {
        id.utf8.count <= maximumIDLength && id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
