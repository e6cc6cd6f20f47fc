// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation

/// The events that a server sends on one or more connections (WHATWG HTML §9.2), as an asynchronous sequence.
///
///     for try await event in client.events(.get("/news")) { show(event.data) }
///
/// - The events arrive in order. Iterating reads from the connection, so a slow reader slows the server.
/// - Each connection is an ordinary call, with interceptors, credentials and logs. The total timeout limits only the
///   time to the head of the response.
/// - If the connection ends or fails, the stream waits and connects again with the last event ID
///   (`EventStream.Options.reconnects`). A server that honours `Last-Event-ID` can then send each event exactly once. A
///   body that breaks off within its content coding counts as a failed connection.
/// - After a failure, the wait is random, with an upper bound that doubles with each failure. A connection that has
///   delivered no event and, after its first 10 s, no byte is a failure too. A wait is never shorter than the server
///   requests in a `retry` or `Retry-After` field, up to one day. A `retry` field of less than 100 ms counts as 100 ms.
/// - Status 204 ends the stream. Other responses that are not an event stream end it with an error, except 408, 429 and
///   5xx, after which the stream connects again.
/// - Cancelling the task and releasing the iterator close the connection at once. Cancelling throws `.cancelled`.
/// - One iteration at a time; a second one throws `.invalidRequest`. A later iteration continues after the last event.
/// - Errors are `NetworkError`. A line or an event that is too large throws `.limitExceeded(.responseBody)`.
public struct EventStream: AsyncSequence, Sendable {
    let core: EventStreamCore

    init(_ core: EventStreamCore) {
        self.core = core
    }

    /// The state of the connection.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// No iteration has begun.
        case idle
        /// The request was sent, or is about to be sent.
        case connecting
        /// Events can arrive.
        case open
        /// The stream connects again at this time of the client's clock. The error is the reason why the connection
        /// failed; nil if it ended normally.
        case waiting(until: Date, after: NetworkError?)
        /// The stream has ended, failed, or was cancelled.
        case closed
    }

    /// The current state.
    public var state: State { core.state }

    /// The current state and the changes of it, in order. A slow reader misses states before the last 16. The sequence
    /// ends when the stream is released.
    public var states: AsyncStream<State> { core.states() }

    /// The ID of the last complete event block, which the next request sends; empty if there is none.
    public var lastEventID: String { core.lastEventID }

    /// Closes the connection and connects again at once, without a wait, even if the stream does not reconnect by
    /// itself. Events that have already arrived are not lost. Use it when the network has changed. Without effect if
    /// there is no iteration.
    public func restart() {
        core.restart()
    }

    /// Returns an iterator. It connects when its first event is requested.
    public func makeAsyncIterator() -> Iterator {
        Iterator(core)
    }

    /// Returns the events one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private var reader: EventReader

        init(_ core: EventStreamCore) {
            reader = EventReader(core)
        }

        /// Returns the next event, or nil after the end of the stream. Throws `NetworkError`, and returns nil
        /// afterwards.
        public mutating func next() async throws(NetworkError) -> ServerEvent? {
            try await reader.next()
        }

        /// Returns the decoded data of the event that was returned last.
        func decode<Value: Decodable>(_ event: ServerEvent) throws(NetworkError) -> Value? {
            try reader.connection?.call.decode(Value.self, from: Data(event.data.utf8), as: "The event")
        }
    }
}
