// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A decoded answer with what came around it: `let page = try await client.response(for: .users)`.
public struct Response<Value: Sendable>: Sendable {
    /// What the call gives.
    public var value: Value
    /// The status: a success, or the 404 or 410 that `options.nilOn404` turned into nil.
    public let status: HTTPStatus
    /// The words behind the status as the server wrote them: see `HTTPResponse.reasonPhrase`.
    public let reasonPhrase: String?
    /// The header fields in the order in which they came.
    public let headers: HTTPHeaders
    /// The fields that came after the body: see `ResponseBody.trailers`.
    public let trailers: HTTPHeaders
    /// What the exchange cost; complete for answers that were delivered whole.
    public let metrics: ExchangeMetrics
    /// The URL that was answered, after redirects. Not redacted.
    public let url: String
    /// The redirects that led here, oldest first.
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

    /// What happened on each try, oldest first; the last one succeeded. See `HTTPResponse.attempts`.
    public var attempts: [Attempt] { Attempt.all(history, status, metrics) }

    /// Where the answer came from, and why.
    public var cacheVerdict: CacheVerdict { verdict?.value ?? .none }

    /// Where the answer came from. `.network` in a pipeline without `.caching()`.
    public var served: CacheVerdict.Served { cacheVerdict.served }
}

extension Response: CustomStringConvertible, CustomReflectable {
    /// The status and the value: `200 OK, User(id: 1)`. No URL, which may hold secrets.
    public var description: String { "\(status), \(value)" }

    /// Shows status, fields, redirects and the value, to debuggers and `dump` too; no URL.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "status": "\(status)", "headers": headers, "redirects": redirects, "value": value,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
