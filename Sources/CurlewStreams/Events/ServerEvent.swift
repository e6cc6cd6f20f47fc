// SPDX-License-Identifier: MIT

import CurlewHTTP

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
    /// The text of a comment; nil for an event. A comment has no name, data or ID. Streams contain comments only with
    /// `EventStream.Options.includesComments`.
    public var comment: String?

    /// Creates an event.
    public init(name: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.name = name
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// Creates a comment.
    public init(comment: String) {
        self.init(name: "", data: "")
        self.comment = comment
    }

    init(_ item: EventStreamParser.Item) {
        switch item {
        case .comment(let text): self.init(comment: text)
        case .event(let event):
            self.init(
                name: event.name, data: event.data, id: event.id, retry: event.retry.map { .milliseconds($0) })
        }
    }
}
