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

    /// Returns the data of the events, decoded as `type` with the codecs of the call.
    public func events<Value: Decodable & Sendable>(
        _ route: some Route, of type: Value.Type, options: EventStream.Options = EventStream.Options()
    ) -> EventStream.Decoded<Value> {
        events(route, options: options).decoding(type)
    }

    /// Returns the data of the events, decoded as `type`: `client.events(.post("/chat", json: prompt), of: Part.self)`.
    public func events<Response, Value: Decodable & Sendable>(
        _ request: Request<Response>, of type: Value.Type, options: EventStream.Options = EventStream.Options()
    ) -> EventStream.Decoded<Value> {
        events(request, options: options).decoding(type)
    }
}
