// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// An HTTP request: method, absolute URL, header fields and a body.
///
/// The URL is always valid. An invalid method, header field or trailer ends the call with `.invalidRequest`.
/// Interceptors change copies of a request. Curlew builds requests from typed calls, `Request<Value>` and endpoints.
public struct HTTPRequest: CustomStringConvertible, CustomReflectable, Sendable {
    /// The method, sent as written.
    public var method: HTTPMethod { didSet { isValidated = false } }
    /// The scheme, host and port to which the request is sent. Credentials and cookies are scoped to it.
    public private(set) var origin: Origin
    /// The path and query of the request line, percent-encoded, beginning with `/`.
    public private(set) var target: String
    /// The header fields, in order. The transport writes `Host` and the fields of the connection. A request that
    /// contains one of these fields is rejected with `.invalidRequest`; `HTTPHeaders.endToEnd` omits them.
    /// `Content-Length` is derived from the body.
    public var headers: HTTPHeaders { didSet { isValidated = false } }
    /// The body, produced each time that the request is sent.
    public var body: RequestBody { didSet { isValidated = false } }
    /// The declared secrets, which descriptions redact in addition to those that Curlew knows.
    package var secrets: DeclaredSecrets {
        didSet { secrets.declare(in: &headers) }
    }
    /// Whether `validate()` has accepted the request as it is.
    private(set) var isValidated = false

    /// Creates a request for an absolute `http` or `https` URL.
    ///
    /// Characters that a URL cannot hold (spaces, non-ASCII letters) are percent-encoded as browsers do. The fragment
    /// is removed, because it is never sent. Throws `NetworkError` with reason `.invalidRequest` for text that is not
    /// such a URL, and for a URL with a user name or password: use an authentication interceptor instead.
    public init(
        _ method: HTTPMethod = .get, url: String, headers: HTTPHeaders = [:], body: RequestBody = .empty
    ) throws(NetworkError) {
        let parts = try Self.parse(url)
        self.init(method, origin: parts.origin, target: parts.target, headers: headers, body: body)
    }

    /// Creates a request whose origin and target the caller has checked. `target` begins with `/` and is
    /// percent-encoded.
    package init(
        _ method: HTTPMethod, origin: Origin, target: String, headers: HTTPHeaders = [:], body: RequestBody = .empty,
        secrets: DeclaredSecrets = .none
    ) {
        self.method = method
        self.origin = origin
        self.target = target
        // Changing a property would copy the request at the end of the initializer.
        var headers = headers
        secrets.declare(in: &headers)
        self.headers = headers
        self.body = body
        self.secrets = secrets
    }

    /// The absolute URL as text, always with a path.
    public var urlString: String {
        // Each response has this text, so it is written in one step: interpolation costs 2,000 instructions more.
        let port = origin.isDefaultPort ? "" : ":" + String(origin.port)
        let parts = (origin.scheme.utf8, origin.host.utf8, port.utf8, target.utf8)
        let count = parts.0.count + 3 + parts.1.count + parts.2.count + parts.3.count
        return String(unsafeUninitializedCapacity: count) { buffer in
            var end = 0
            func put(_ text: String.UTF8View) { end = buffer[end...].initialize(fromContentsOf: text) }
            put(parts.0)
            put("://".utf8)
            put(parts.1)
            put(parts.2)
            put(parts.3)
            return end
        }
    }

    /// The absolute URL as a Foundation `URL`; nil only if Foundation rejects a URL that is valid on the wire.
    public var url: URL? {
        URL(string: urlString)
    }

    /// Replaces the URL with another absolute URL. The rules and errors are those of `init`.
    public mutating func setURL(_ url: String) throws(NetworkError) {
        let parts = try Self.parse(url)
        origin = parts.origin
        target = parts.target
    }

    /// Returns the request with the declared secrets of the call, unless the request already has declared secrets.
    package func knowing(_ declared: DeclaredSecrets) -> HTTPRequest {
        guard secrets.isEmpty, !declared.isEmpty else { return self }
        var copy = self
        copy.secrets = declared
        return copy
    }

    /// Appends one query item and percent-encodes its name and value. Existing items of that name are kept.
    public mutating func appendQuery(_ name: String, _ value: String) {
        target += target.holds("?") ? (target.ends(with: "?") || target.ends(with: "&") ? "" : "&") : "?"
        target += PercentCoding.encode(name, for: .queryName) + "=" + PercentCoding.encode(value, for: .queryValue)
    }

    /// Returns the request if `validate()` accepts it. Until it is changed, further calls of `validate()` do nothing.
    consuming func validated() throws(NetworkError) -> HTTPRequest {
        try validate()
        isValidated = true
        return self
    }

    /// Throws `NetworkError` with reason `.invalidRequest` if the request cannot be sent safely: the method, a header
    /// field or a trailer is invalid, or a field belongs to the connection.
    package func validate() throws(NetworkError) {
        if isValidated { return }
        if let problem = headers.problem {
            throw NetworkError(.invalidRequest, detail: problem.message, request: NetworkError.RequestLine(self))
        }
        if let name = headers.first(where: { $0.name.belongsToConnection })?.name { throw refusal(of: name) }
        if let problem = body.trailerProblem {
            throw NetworkError(.invalidRequest, detail: problem, request: NetworkError.RequestLine(self))
        }
        guard method.isValid else {
            throw NetworkError(
                .invalidRequest, detail: "The method is not a token (RFC 9110 §9.1).",
                request: NetworkError.RequestLine(self))
        }
    }

    /// Returns the error for a header field that belongs to the connection.
    private func refusal(of name: HTTPField.Name) -> NetworkError {
        let hint =
            switch name {
            case .host: "Put the host into the URL. `TransportConfiguration.dns.overrides` connects to another address."
            case "Proxy-Authorization":
                "Put the credentials into the `TransportConfiguration.Proxy.Server` of the transport's configuration."
            default: "Omit it. To forward the fields of another request, use its `headers.endToEnd`."
            }
        return NetworkError(
            .invalidRequest,
            detail: "The request has the field \(name.text), which the transport writes (RFC 9110 §7.6.1).", hint: hint,
            request: NetworkError.RequestLine(self))
    }

    /// Returns the parts of an absolute URL. The rules and errors are those of `init`.
    static func parse(_ url: String) throws(NetworkError) -> URLParts {
        do {
            let parts = try URLParts(url)
            guard parts.userinfo == nil else {
                throw NetworkError(
                    .invalidRequest, detail: "The URL contains a user name or password.",
                    hint: "Remove them from the URL and add an authentication interceptor for that origin.")
            }
            return parts
        } catch let error as NetworkError {
            throw error
        } catch {
            let message = (error as? URLProblem)?.message ?? "cannot be read"
            let shown = Redaction.standard.unusable(url: url).clipped(to: 200).printable
            throw NetworkError(.invalidRequest, detail: "The URL \(message) (\(shown)).")
        }
    }

    /// The method and the redacted URL: `GET https://host/path`.
    public var description: String {
        NetworkError.RequestLine(self).description
    }

    /// A mirror that shows the request line, the fields and the kind of the body, so that a dump contains no secret.
    public var customMirror: Mirror {
        // An interceptor may have replaced `headers`, and the new value does not carry the declared secrets.
        var headers = headers
        secrets.declare(in: &headers)
        return Mirror(self, children: ["request": description, "headers": headers, "body": "\(body)"])
    }
}
