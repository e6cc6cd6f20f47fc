// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A decoded response with its status, headers and metrics: `let page = try await client.response(for: .users)`.
public struct Response<Value: Sendable>: Sendable {
    /// The decoded value.
    public var value: Value
    /// The status: a success, or the 404 or 410 that `options.nilOn404` turned into nil.
    public let status: HTTPStatus
    /// The reason phrase as the server wrote it: see `HTTPResponse.reasonPhrase`.
    public let reasonPhrase: String?
    /// The header fields in the order of arrival.
    public let headers: HTTPHeaders
    /// The trailer fields: see `ResponseBody.trailers`.
    public let trailers: HTTPHeaders
    /// The metrics of the exchange; complete for responses that were delivered whole.
    public let metrics: ExchangeMetrics
    /// The URL of the response, after redirects. Not redacted.
    public let url: String
    /// The redirects that led to this response, oldest first.
    public let redirects: [Redirect]
    private let history: AttemptHistory?
    private let verdict: CacheVerdictBox?

    init(_ value: Value, from response: HTTPResponse) {
        self.value = value
        status = response.status
        reasonPhrase = response.reasonPhrase
        headers = response.headers
        var trailers = response.body.trailers
        trailers.declare(as: response.headers)
        self.trailers = trailers
        metrics = response.metrics
        url = response.url
        redirects = response.redirects
        verdict = response.verdict
        history = response.history
    }

    /// The attempts of the call, oldest first. The last one succeeded. See `HTTPResponse.attempts`.
    public var attempts: [Attempt] { Attempt.all(history, status, metrics) }

    /// The source of the response and the reason for it.
    public var cacheVerdict: CacheVerdict { verdict?.value ?? .none }

    /// The source of the response. `.network` in a pipeline without `.caching()`.
    public var served: CacheVerdict.Served { cacheVerdict.served }
}

extension Response: CustomStringConvertible, CustomReflectable {
    /// The status and the value: `200 OK, User(id: 1)`. The URL is omitted, because it may contain secrets.
    public var description: String { "\(status), \(value)" }

    /// Shows status, fields, redirects and the value, without the URL. Debuggers and `dump` use it.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "status": "\(status)", "headers": headers, "redirects": redirects, "value": value,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
