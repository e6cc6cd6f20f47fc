// SPDX-License-Identifier: MIT

public import CurlewCore

extension APIClient {
    /// Returns the events that the server sends in response to `route` (WHATWG HTML §9.2). Nothing is sent before the
    /// first event is requested.
    ///
    /// The request may have any method and body. It has the fields `Accept: text/event-stream` and
    /// `Cache-Control: no-cache`, unless the route sets them, and `Last-Event-ID`, if there is one that is valid in a
    /// field and has at most 8 KiB.
    public func events(_ route: some Route, options: EventStream.Options = EventStream.Options()) -> EventStream {
        EventStream(EventStreamCore(EventOpening(client: self, route: route, options: options)))
    }

    /// Returns the events that the server sends in response to an inline request: `client.events(.get("/news"))`.
    public func events<Value>(
        _ request: Request<Value>, options: EventStream.Options = EventStream.Options()
    ) -> EventStream {
        EventStream(EventStreamCore(EventOpening(client: self, route: request, options: options)))
    }
}
