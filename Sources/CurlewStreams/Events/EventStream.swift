// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
import CurlewHTTP

/// The events that a server sends on one or more connections (WHATWG HTML §9.2), as an asynchronous sequence.
///
///     for try await event in client.events(.get("/news")) { show(event.data) }
///
/// - The events arrive in order. Iterating reads from the connection, so a slow reader slows the server.
/// - Each connection is an ordinary call, with interceptors, credentials and logs. The total timeout limits only the
///   time to the head of the response.
/// - If the connection ends or fails, the stream waits and connects again with the last event ID
///   (`EventStream.Options.reconnects`). A server that honours `Last-Event-ID` can then send each event exactly once.
///   Errors end the stream, except those whose `NetworkError.isRetryable` is true, 5xx, and a body that breaks off.
/// - A connection has failed if it could not be opened, or has delivered no event and, after its first 10 s, no byte.
///   After a failure, the wait is random, with an upper bound that doubles with each failure. A wait is never shorter
///   than the server requests in a `retry` or `Retry-After` field, up to one day, and for `retry` at least 100 ms.
/// - Status 204 ends the stream. A response of another media type throws `.badResponse`.
/// - Cancelling the task and releasing the iterator close the connection at once. Cancelling throws `.cancelled`.
/// - One iteration at a time; a second one throws `.invalidRequest`. A later iteration continues after the last event.
/// - Errors are `NetworkError`. An event or a line that is too large throws `.limitExceeded(.responseBody)`.
public struct EventStream: AsyncSequence, Sendable {
    let core: EventStreamCore

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
        /// The iteration has ended, or its iterator was released. A later iteration connects again.
        case closed
    }

    /// The current state.
    public var state: State { core.state }

    /// The current state and its changes, in order. A slow reader misses states before the last 16. Each access returns
    /// another sequence, which ends when the last copy of the stream and the last iterator are released.
    public var states: AsyncStream<State> { core.states() }

    /// The last event ID (WHATWG HTML §9.2), at first `Options.lastEventID`. Sent next, unless empty or not valid.
    public var lastEventID: String { core.lastEventID }

    /// Closes the connection or ends the wait, and connects again at once, even if `Options.reconnects` is false. The
    /// stream still returns complete events that it has read. Has no effect if there is no iteration. Use it when the
    /// network has changed.
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

        /// Returns the next event; nil after the end of the stream, and after an error. Throws the errors that
        /// ``EventStream`` lists.
        public mutating func next() async throws(NetworkError) -> ServerEvent? {
            try await reader.next()
        }

        /// Returns the decoded data of `event`, which must be the last event that `next()` returned.
        func decode<Value: Decodable>(_ event: ServerEvent) throws(NetworkError) -> Value? {
            try reader.connection?.call.decode(Value.self, from: Data(event.data.utf8), as: "The event")
        }
    }
}

extension EventStream {
    /// The settings of an event stream. Every limit has a default.
    public struct Options: Sendable {
        /// Whether the stream connects again when its connection ends or fails. If false, the stream ends
        /// then or throws the error. Nil means true for GET and HEAD, and false for other methods, because a repeated
        /// POST repeats its effect. Default nil.
        public var reconnects: Bool?
        /// The last event ID of an earlier stream, which the first request sends. Default empty, which sends none.
        public var lastEventID = ""
        /// The wait after a connection that worked. After a failure it is random, up to this time or 100 ms, which
        /// doubles with each further failure. A `retry` field of the server replaces this time. Default 3 s.
        public var retryDelay: Duration = .seconds(3)
        /// The maximum of the random wait after failures; less than 100 ms counts as 100 ms. It does not limit the wait
        /// that the server requests with `retry` or `Retry-After`. Default 60 s.
        public var maximumDelay: Duration = .seconds(60)
        /// The maximum number of consecutive failures. After one more, the stream throws the last error, or
        /// `.badResponse` if the last connection ended without one. Nil sets no limit. Default nil, as in browsers.
        public var maximumFailures: Int?
        /// The time without a byte from the server after which the connection counts as lost. Replaces `Timeouts.idle`.
        /// The time in which the caller does not read does not count. Nil sets no limit. Default 5 minutes.
        public var readTimeout: Duration? = .seconds(300)
        /// The maximum size in bytes of the data of an event, and of any other field or comment. A larger one ends the
        /// stream with `.limitExceeded(.responseBody)`. Default 16 MiB.
        public var maximumEventSize = 16 << 20
        /// The data of the event that ends the stream, such as `[DONE]`; `next()` does not return that event. A stream
        /// that does not reconnect throws `.connectionLost` if its connection ends earlier. Default nil: no such event.
        public var endMarker: String?

        /// Creates the default options.
        public init() {}
    }

    /// The data of the events of a stream, decoded with the default codec of the call (`Codecs.primary`).
    ///
    /// Data that cannot be decoded ends the iteration with `.decoding` and closes the connection. The data is the body
    /// of the error's response: `error.body(as: Problem.self)` decodes the data as another type.
    public struct Decoded<Value: Decodable & Sendable>: AsyncSequence, Sendable {
        /// The stream whose data is decoded; it provides the state and `restart()`.
        public let events: EventStream
        let name: String?

        /// Returns an iterator, which connects when its first value is requested.
        public func makeAsyncIterator() -> Iterator {
            Iterator(events: events.makeAsyncIterator(), name: name)
        }

        /// Returns the decoded data of one event after the other.
        public struct Iterator: AsyncIteratorProtocol {
            private var events: EventStream.Iterator?
            private let name: String?

            init(events: EventStream.Iterator, name: String?) {
                self.events = events
                self.name = name
            }

            /// Returns the next value; nil after the end of the stream, and after an error. Throws `.decoding` and the
            /// errors of the stream.
            public mutating func next() async throws(NetworkError) -> Value? {
                while let event = try await events?.next() {
                    guard name == nil || event.name == name else { continue }
                    do throws(NetworkError) {
                        return try events?.decode(event)
                    } catch {
                        events = nil
                        throw error
                    }
                }
                return nil
            }
        }
    }

    /// Returns the data of the events, decoded as `type`.
    ///
    /// - `name`: the name of the events to decode; the others are skipped. Default nil: all events.
    public func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, named name: String? = nil
    ) -> Decoded<Value> {
        Decoded(events: self, name: name)
    }
}

extension APIClient {
    /// Returns the events that the server sends in response to `route` (WHATWG HTML §9.2). Nothing is sent before the
    /// first event is requested.
    ///
    /// The request may have any method and body. It has the fields `Accept: text/event-stream` and
    /// `Cache-Control: no-cache`, unless the route sets them, and `Last-Event-ID` with the last event ID, unless the ID
    /// is empty, has more than 8 KiB or is not valid in a field.
    public func events(_ route: some Route, options: EventStream.Options = EventStream.Options()) -> EventStream {
        EventStream(core: EventStreamCore(EventOpening(client: self, route: route, options: options)))
    }

    /// Returns the events that the server sends in response to an inline request: `client.events(.get("/news"))`.
    public func events<Value>(
        _ request: Request<Value>, options: EventStream.Options = EventStream.Options()
    ) -> EventStream {
        EventStream(core: EventStreamCore(EventOpening(client: self, route: request, options: options)))
    }
}

/// An event that a server sent (WHATWG HTML §9.2).
public struct ServerEvent: Hashable, Sendable {
    /// The name of the event. Default `message`.
    public var name: String
    /// The data of the event. Several `data` lines are joined by line feeds.
    public var data: String
    /// The last event ID of the stream at this event, perhaps from an earlier event; empty if there is none.
    public var id: String
    /// The reconnection time that the server sent with this event; nil if it sent none.
    public var retry: Duration?

    /// Creates an event.
    public init(name: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.name = name
        self.data = data
        self.id = id
        self.retry = retry
    }
}
