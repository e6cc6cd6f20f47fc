// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A decoded response with its status, headers and metrics: `let page = try await client.response(for: .users)`.
public struct Response<Value: Sendable>: CustomStringConvertible, CustomReflectable, Sendable {
    /// The decoded value.
    public var value: Value
    /// The status: a success, a status that `options.acceptedStatuses` contains, or the 404 or 410 that
    /// `options.decodesNotFoundAsNil` turned into nil. Any status if the value is an `HTTPResponse`.
    public let status: HTTPStatus
    /// The reason phrase as the server wrote it: see `HTTPResponse.reasonPhrase`.
    public let reasonPhrase: String?
    /// The header fields in the order of arrival.
    public let headers: HTTPHeaders
    /// The trailer fields: see `ResponseBody.trailers`.
    public let trailers: HTTPHeaders
    /// The metrics of the exchange, as they were when the transport returned the response. They are complete if the
    /// body arrived together with the head.
    public let metrics: ExchangeMetrics
    /// The URL of the response, after redirects. It is not redacted and may contain secrets.
    public let url: String
    private let history: AttemptHistory?
    package let facts: Facts

    package init(_ value: Value, from response: HTTPResponse) {
        self.value = value
        status = response.status
        reasonPhrase = response.reasonPhrase
        headers = response.headers
        var trailers = response.body.trailers
        trailers.declare(as: response.headers)
        self.trailers = trailers
        metrics = response.metrics
        url = response.url
        facts = response.facts
        history = response.history
    }

    /// The attempts of the call, oldest first. The last attempt received this response. See `HTTPResponse.attempts`.
    public var attempts: [NetworkError.Attempt] { NetworkError.Attempt.all(history, status, metrics) }

    /// The status and the value: `200 OK, User(id: 1)`. The URL is omitted, because it may contain secrets.
    public var description: String { "\(status), \(value)" }

    /// A mirror that shows the status, the header fields, the facts of capabilities and the value. It omits the URL,
    /// which may contain secrets.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "status": "\(status)", "headers": headers, "facts": facts, "value": value,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
