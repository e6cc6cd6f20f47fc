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
///   (`EventStream.Options.reconnects`). A server that honours `Last-Event-ID` can then send each event exactly once. A
///   body that breaks off within its content coding counts as a failed connection.
/// - After a failure, the wait is random, with an upper bound that doubles with each failure. A connection that has
///   delivered no event and, after its first 10 s, no byte is a failure too. A wait is never shorter than the server
///   requests in a `retry` or `Retry-After` field, up to one day. A `retry` field of less than 100 ms counts as 100 ms.
/// - Status 204 ends the stream. Other responses that are not an event stream end it with an error, except 408, 429 and
///   5xx, after which the stream connects again.
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
        /// The stream has ended, failed, or was cancelled.
        case closed
    }

    /// The current state.
    public var state: State { core.state }

    /// The current state and its changes, in order. A slow reader misses states before the last 16. The sequence ends
    /// when the stream is released.
    public var states: AsyncStream<State> { core.states() }

    /// The ID of the last complete event block, which the next request sends; empty if there is none.
    public var lastEventID: String { core.lastEventID }

    /// Closes the connection and connects again at once, without a wait, even if the stream does not reconnect by
    /// itself. Events that have already arrived are not lost. Use it when the network has changed. Has no effect if
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

extension EventStream {
    /// The settings of an event stream. Every limit has a default.
    public struct Options: Sendable {
        /// Whether the stream connects again when its connection ends or fails. Nil means true for GET and HEAD and
        /// false for other methods, because a repeated POST repeats its effect. Default nil.
        public var reconnects: Bool?
        /// The last event ID of an earlier stream, which the first request sends. Default empty, which sends none.
        public var lastEventID = ""
        /// The reconnection time, until the server sends another one in a `retry` field. Default 3 s.
        public var retryDelay: Duration = .seconds(3)
        /// The maximum of the random wait after repeated failures. It does not limit the wait that the server requests
        /// with `retry` or `Retry-After`. Default 60 s.
        public var maximumDelay: Duration = .seconds(60)
        /// The maximum number of consecutive failures: after one more, the stream throws the last error. A connection
        /// fails if it delivers no event and, after its first 10 s, no byte. Nil sets no limit. Default nil, as in
        /// browsers.
        public var maximumFailures: Int?
        /// The time without a byte from the server after which the connection counts as lost, on the client's clock.
        /// The time in which the caller does not read does not count. Nil sets no limit. Default 5 minutes.
        public var readTimeout: Duration? = .seconds(300)
        /// The maximum size in bytes of the data of an event, and of any other field or comment. Default 16 MiB.
        public var maximumEventSize = 16 << 20
        /// The data that marks the end of the stream, such as `[DONE]`. The stream ends at this event and does not
        /// contain it. A stream that does not reconnect throws if it ends without it. Default nil.
        public var endMarker: String?

        /// Creates the default options.
        public init() {}
    }

    /// The data of the events of a stream, decoded with the codecs of the call.
    ///
    /// Data that cannot be decoded ends the iteration with `.decoding` and closes the connection.
    /// The error has the data as the body of its response: `error.body(as: Problem.self)` decodes it as another type.
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

            /// Returns the next value, or nil after the end of the stream. Throws `NetworkError`, and returns nil
            /// afterwards.
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
    /// `Cache-Control: no-cache`, unless the route sets them, and `Last-Event-ID`, if there is one that is valid in a
    /// field and has at most 8 KiB.
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
    /// The last event ID of the stream at this event; empty if the server has sent none.
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
