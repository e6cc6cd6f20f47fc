// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// An HTTP response: a complete head, and a body that can be read once.
///
/// A response with any status is valid, including 404 and 500. Only typed calls turn a status into an error.
public struct HTTPResponse: CustomStringConvertible, CustomReflectable, Sendable {
    /// The status, which may be a failure such as 404 or 500.
    public var status: HTTPStatus
    /// The header fields in the order of arrival.
    public var headers: HTTPHeaders
    /// The body, which can be read once: a second read throws. If the body is not read, its connection is released
    /// together with the last copy of the body.
    public var body: ResponseBody
    /// The HTTP version of the response. For URLSession, see `ExchangeMetrics.version`.
    public var version: HTTPVersion
    /// The metrics of the exchange up to the response head. Complete if the transport delivered the response together
    /// with its complete body.
    public var metrics: ExchangeMetrics {
        get { measured?.metrics ?? ExchangeMetrics() }
        set { measured = Measured(newValue) }
    }
    /// The storage of `metrics`, in an object so that copies of a response stay small.
    // `Measured?` would begin as nil, and an initializer that replaces a value copies the response at its end.
    private var measured: Optional<Measured>
    /// The URL of the response, after redirects. Not redacted. A response from the cache has the URL of its
    /// request. Empty if an interceptor or a test created the response without a URL.
    public var url: String
    /// The reason phrase as the server wrote it (RFC 9112 §4), at most 200 bytes. Nil if there is none: for an empty
    /// phrase, in HTTP/2 and later, for a response from a cache, and over URLSession, which does not report it. The
    /// server chooses the text. Clients that depend on it break when a proxy rewrites it.
    public var reasonPhrase: Optional<String>
    /// The recorded attempts, if any: see `attempts`.
    package var history: AttemptHistory?
    package var facts = Facts()

    /// Creates a response, for interceptors that respond without a request to the server and for tests.
    public init(
        status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: ResponseBody = ResponseBody(Data()),
        version: HTTPVersion = .http1_1, metrics: ExchangeMetrics = ExchangeMetrics(), url: String = "",
        reasonPhrase: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.version = version
        measured = metrics == ExchangeMetrics() ? nil : Measured(metrics)
        self.url = url
        self.reasonPhrase = reasonPhrase
    }

    private final class Measured: Sendable {
        let metrics: ExchangeMetrics

        init(_ metrics: ExchangeMetrics) { self.metrics = metrics }
    }

    /// The media type of the body; nil if the `Content-Type` field is missing or malformed.
    public var mediaType: MediaType? {
        headers[.contentType].flatMap { MediaType($0) }
    }

    /// Reads and returns the complete body. Throws as `ResponseBody.collect(upTo:)` does:
    /// `.limitExceeded(.responseBody)` beyond `Limits.responseBody`, and `.invalidRequest` for a second read.
    public func data() async throws -> Data {
        try await body.collect()
    }

    /// Reads the complete body and returns it as text: in Latin-1 if the server declares that or Windows-1252,
    /// otherwise in UTF-8 with U+FFFD for invalid bytes. Throws like `data()`.
    public func text() async throws -> String {
        Self.text(of: try await body.collect(), mediaType: mediaType)
    }

    static func text(of data: Data, mediaType: MediaType?) -> String {
        switch mediaType?.charset?.lowercased() {
        case "iso-8859-1", "latin1", "windows-1252": String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
        default: String(decoding: data, as: UTF8.self)
        }
    }

    /// The version, the status, and the length of the body if it is known.
    public var description: String {
        "\(version) \(status), \(body)"
    }

    /// A mirror that shows the description, the redacted fields and the facts of capabilities. It shows neither the URL
    /// nor the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "headers": headers, "facts": facts])
    }
}
