// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A server's answer: the head at hand, the body a resource to be read once.
///
/// Whatever status came, a value of this type is a complete HTTP exchange; only typed calls turn statuses into errors.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields in the order in which they came.
    public var headers: HTTPHeaders
    /// The body. Reading it twice throws; leaving it unread gives the connection up when the last copy goes away.
    public var body: ResponseBody
    /// The protocol version of the answer.
    public var version: HTTPVersion
    /// What the exchange cost up to the head; complete for a response that was delivered whole.
    public var metrics: ExchangeMetrics {
        get { measured?.metrics ?? ExchangeMetrics() }
        set { measured = Measured(newValue) }
    }
    /// Out of line, or each hand-over of a response would copy as many bytes again.
    private var measured: Measured?
    /// The URL that was answered, after redirects. Not redacted; empty for answers made by hand.
    public var url: String
    /// The words behind the status as the server wrote them (RFC 9112 §4), at most 200 bytes. Nil when there are none:
    /// without words, over HTTP/2 and later, from a cache, and over URLSession, which does not tell.
    ///
    /// Text of the server: it may say anything, and clients that decide by it break when a proxy rewrites it.
    public var reasonPhrase: String?
    /// The redirects that led here, oldest first. Set by `.redirects()`.
    public var redirects: [Redirect] = []
    /// What there is to tell about its tries, if anything: see `attempts`.
    package var history: AttemptHistory?
    /// What the cache did, if there is one: see `cacheVerdict`.
    package var verdict: CacheVerdictBox?

    /// An answer of one's own, for interceptors that do not ask the server and for tests.
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

    /// The media type of the body, if the server named one that can be read.
    public var mediaType: MediaType? {
        headers[.contentType].flatMap { MediaType($0) }
    }

    /// The whole body, bounded by the exchange's limit. Reads it: a second call throws.
    public func data() async throws -> Data {
        try await body.collect()
    }

    /// The whole body as text: UTF-8, and Latin-1 where the server says so. Reads it: a second call throws.
    public func text() async throws -> String {
        let data = try await body.collect()
        return Self.text(of: data, mediaType: mediaType)
    }

    package static func text(of data: Data, mediaType: MediaType?) -> String {
        switch mediaType?.charset?.lowercased() {
        case "iso-8859-1", "latin1", "windows-1252": String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
        default: String(decoding: data, as: UTF8.self)
        }
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The status line, and how much body is known about.
    public var description: String {
        "\(version) \(status), \(body)"
    }

    /// Shows the description, the fields and the redirects, to debuggers and `dump` too; no secrets, no URL, no body.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "headers": headers, "redirects": redirects])
    }
}
