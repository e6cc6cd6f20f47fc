// SPDX-License-Identifier: MIT

import Curlew
import Observation

extension Request {
    static var liveNotices: Request<Void> { .get("/team/notices/stream") }
}

/// The news of the team as they happen: server-sent events, over as many connections as it takes.
///
/// The stream connects again by itself, and asks for what comes after the last notice that has arrived. So a lost
/// connection loses no notice.
@MainActor @Observable
final class NoticeFeed {
    /// The latest notices, oldest first.
    private(set) var notices: [Notice] = []
    /// What the stream does now: connecting, open, waiting for the next connection, closed.
    private(set) var state = EventStream.State.idle
    /// How many connections have been open.
    private(set) var connections = 0
    /// Why the last connection was lost; nil if none was.
    private(set) var loss: NetworkError?
    /// Why the stream has ended; nil if it was cancelled, or if the service ended it.
    private(set) var error: NetworkError?

    @ObservationIgnored private let client: APIClient
    @ObservationIgnored private let capacity: Int

    /// - `capacity`: how many notices to keep.
    init(client: APIClient, capacity: Int = 50) {
        self.client = client
        self.capacity = max(1, capacity)
    }

    /// Follows the news until the task is cancelled, or until the service ends the stream. A second call continues after
    /// the last notice; one at a time.
    func follow() async {
        guard state == .idle || state == .closed else { return }
        state = .connecting
        error = nil
        var options = EventStreamOptions()
        options.lastEventID = notices.last.map { "\($0.id)" } ?? ""
        let stream = client.events(.liveNotices, of: Notice.self, options: options)
        let states = stream.events.states
        async let watching: Void = watch(states)
        do {
            for try await notice in stream { add(notice) }
        } catch {
            let error = NetworkError(error)
            if !error.isCancelled { self.error = error }
        }
        await watching
        state = .closed
    }

    /// The state in words, for a screen.
    var status: String {
        switch state {
        case .idle: "not connected"
        case .connecting: "connecting"
        case .open: "live"
        case .waiting: "not connected, will try again"
        case .closed: error?.message ?? "closed"
        @unknown default: "unknown"
        }
    }

    private func watch(_ states: AsyncStream<EventStream.State>) async {
        for await state in states where state != .idle {
            self.state = state
            if state == .open { connections += 1 }
            if case .waiting(_, let reason?) = state { loss = reason }
            if state == .closed { return }
        }
    }

    private func add(_ notice: Notice) {
        notices.append(notice)
        notices.removeFirst(max(0, notices.count - capacity))
    }
}
