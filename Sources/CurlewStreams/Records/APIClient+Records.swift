// SPDX-License-Identifier: MIT

public import CurlewCore

extension APIClient {
    /// Returns the records of the response to `route`, decoded as `type` with the client's codec for JSON as they
    /// arrive. Nothing is sent before the first record is requested, and each iteration sends the request.
    ///
    /// The request may have any method and body. It has an `Accept` field with the media types of JSON Lines, unless the
    /// route sets it.
    public func records<Element: Decodable & Sendable>(
        _ route: some Route, of type: Element.Type = Element.self,
        options: RecordStreamOptions = RecordStreamOptions()
    ) -> RecordStream<Element> {
        RecordStream(RecordOpening(client: self, route: route, options: options))
    }

    /// Returns the records of the response to an inline request: `client.records(.get("/export"), of: Row.self)`.
    public func records<Response, Element: Decodable & Sendable>(
        _ request: Request<Response>, of type: Element.Type = Element.self,
        options: RecordStreamOptions = RecordStreamOptions()
    ) -> RecordStream<Element> {
        RecordStream(RecordOpening(client: self, route: request, options: options))
    }
}
