// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An HTTP response: a complete head, and a body that can be read once.
///
/// A value of this type is a valid HTTP exchange, whatever its status. Only typed calls turn statuses into errors.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields in the order of arrival.
    public var headers: HTTPHeaders
    /// The body. Reading it twice throws. If it is not read, its connection is released when the last copy is released.
    public var body: ResponseBody
    /// The protocol version of the response.
    public var version: HTTPVersion
    /// The metrics of the exchange up to the head; complete for a response that was delivered whole.
    public var metrics: ExchangeMetrics {
        get { measured?.metrics ?? ExchangeMetrics() }
        set { measured = Measured(newValue) }
    }
    /// Behind a reference, so that copies of a response stay small.
    private var measured: Measured?
    /// The URL of the response, after redirects. Not redacted. Empty for responses that were not received from a
    /// transport.
    public var url: String
    /// The reason phrase as the server wrote it (RFC 9112 §4), at most 200 bytes. Nil if there is none: an empty
    /// phrase, HTTP/2 and later, a response from a cache, and URLSession, which does not report it.
    ///
    /// The server chooses the text. Clients that depend on it break when a proxy rewrites it.
    public var reasonPhrase: String?
    /// The recorded attempts, if any: see `attempts`.
    package var history: AttemptHistory?
    /// The facts that capabilities attach.
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

    /// Reads the whole body, up to the exchange's limit. A second call throws.
    public func data() async throws -> Data {
        try await body.collect()
    }

    /// Reads the whole body as text: UTF-8, or Latin-1 if the server declares it. A second call throws.
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
    /// The status line and the length of the body, if known.
    public var description: String {
        "\(version) \(status), \(body)"
    }

    /// Shows the description, the fields and what capabilities say about it, without secrets, URL and body. Debuggers
    /// and `dump` use it.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "headers": headers, "facts": facts])
    }
}
