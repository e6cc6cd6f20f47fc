// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// One connection of a stream. A task pulls a chunk from the response body only when the reader asks for one, so that
/// the connection can be closed at any time, whatever the body waits for.
final class EventConnection: Sendable {
    private let call: APIClient.OpenResponse
    private let link: Link
    private let pump: Task<Void, Never>
    private let watch: Task<Void, Never>?

    init(_ call: APIClient.OpenResponse, readTimeout: Duration?) {
        self.call = call
        let link = Link()
        self.link = link
        let body = call.response.body
        let pump = Task {
            do {
                var chunks = body.makeAsyncIterator()
                while await link.isAsked(), let chunk = try await chunks.next() { link.deliver(chunk) }
                link.finish(.success(nil))
            } catch {
                link.finish(.failure(NetworkError(error)))
            }
        }
        self.pump = pump
        watch = readTimeout.map { timeout in
            let time = call.context.time
            let begin = time.now
            return Task {
                var end = begin.advanced(by: timeout)
                while (try? await time.alarm(at: end)) != nil {
                    let now = time.now
                    end = (link.waitingSince ?? now).advanced(by: timeout)
                    guard end <= now else { continue }
                    link.finish(
                        .failure(
                            NetworkError(
                                .timedOut(.idle), detail: "The event stream sent nothing for \(timeout.brief).",
                                hint: "Let the server send comments, or set EventStreamOptions.readTimeout.")))
                    pump.cancel()
                    body.cancel()
                    return
                }
            }
        }
    }

    deinit { end() }

    /// Returns the next chunk, or nil at the end of the body. Cancelling the task closes the connection.
    func next() async throws(NetworkError) -> Data? {
        let now = call.context.time.now
        let result = await withTaskCancellationHandler {
            await link.read(at: now)
        } onCancel: {
            end()
        }
        do throws(NetworkError) {
            return try result.get()
        } catch {
            throw call.named(error)
        }
    }

    /// Returns `error` with the names of the request and the route.
    func named(_ error: NetworkError) -> NetworkError {
        call.named(error)
    }

    /// Closes the connection. A reader that waits receives `.cancelled`.
    func end() {
        link.finish(.failure(NetworkError(.cancelled)))
        pump.cancel()
        watch?.cancel()
        call.response.body.cancel()
    }
}

/// The meeting point of the reader and the task that pulls.
private final class Link: Sendable {
    typealias Reading = Result<Data?, NetworkError>

    private struct State: Sendable {
        var reader: CheckedContinuation<Reading, Never>?
        var waitingSince: MonotonicInstant?
        var pump: CheckedContinuation<Bool, Never>?
        var end: Reading?
    }

    private let state = Locked(State())

    /// The time at which the reader began to wait; nil while it does not wait.
    var waitingSince: MonotonicInstant? { state.withLock { $0.waitingSince } }

    func read(at now: MonotonicInstant) async -> Reading {
        await withCheckedContinuation { reader in
            let (end, pump) = state.withLock { state -> (Reading?, CheckedContinuation<Bool, Never>?) in
                if let end = state.end { return (end, nil) }
                state.reader = reader
                state.waitingSince = now
                defer { state.pump = nil }
                return (nil, state.pump)
            }
            pump?.resume(returning: true)
            if let end { reader.resume(returning: end) }
        }
    }

    /// Waits until the reader asks for a chunk. Returns false at the end.
    func isAsked() async -> Bool {
        await withCheckedContinuation { pump in
            let isAsked = state.withLock { state -> Bool? in
                if state.end != nil { return false }
                if state.reader != nil { return true }
                state.pump = pump
                return nil
            }
            if let isAsked { pump.resume(returning: isAsked) }
        }
    }

    func deliver(_ chunk: Data) {
        takeReader()?.resume(returning: .success(chunk))
    }

    func finish(_ end: Reading) {
        let pump = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            defer { state.pump = nil }
            return state.pump
        }
        pump?.resume(returning: false)
        takeReader()?.resume(returning: end)
    }

    private func takeReader() -> CheckedContinuation<Reading, Never>? {
        state.withLock { state in
            state.waitingSince = nil
            defer { state.reader = nil }
            return state.reader
        }
    }
}
