// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A message on its way to a server: method, absolute target, header fields and a body recipe.
///
/// A value of this type is always well-formed: its URL was checked when it was made and its headers refuse line breaks.
/// Interceptors change copies of it; `Request<Value>` and endpoints are the typed calls it is built from.
public struct HTTPRequest: Sendable {
    /// The method, sent as written.
    public var method: HTTPMethod
    /// Scheme, host and port that the message goes to. Credentials and cookies belong to it.
    public private(set) var origin: Origin
    /// Path and query as they stand in the request line, percent-encoded, beginning with `/`.
    public private(set) var target: String
    /// The header fields, in order. `Host` and what belongs to the connection is written by the transport: a request that
    /// has one of these fields is not sent, see `HTTPHeaders.endToEnd`. `Content-Length` follows from the body.
    public var headers: HTTPHeaders
    /// How to produce the body, as often as it is needed.
    public var body: RequestBody
    /// What texts about it do not show, beyond what Curlew knows.
    package var secrets = DeclaredSecrets.none {
        didSet { secrets.declare(in: &headers) }
    }

    /// A request for an absolute `http` or `https` URL.
    ///
    /// Characters that a URL cannot hold (spaces, non-ASCII letters) are percent-encoded as browsers do; a fragment is
    /// dropped, because it is never sent. Throws `NetworkError` with reason `.invalidRequest` for anything else that is
    /// not an absolute URL, and for user names or passwords in it, which belong into the pipeline.
    public init(
        _ method: HTTPMethod = .get, url: String, headers: HTTPHeaders = [:], body: RequestBody = .empty
    ) throws(NetworkError) {
        let parts = try Self.parse(url)
        self.init(method, origin: parts.origin, target: parts.target, headers: headers, body: body)
    }

    /// For callers that have checked origin and target: `target` begins with `/` and is percent-encoded.
    package init(
        _ method: HTTPMethod, origin: Origin, target: String, headers: HTTPHeaders = [:], body: RequestBody = .empty,
        secrets: DeclaredSecrets = .none
    ) {
        self.method = method
        self.origin = origin
        self.target = target
        self.headers = headers
        self.body = body
        self.secrets = secrets
    }

    /// The absolute URL as text, always with a path.
    public var urlString: String {
        origin.description + target
    }

    /// The absolute URL for use with Foundation; nil only if Foundation refuses what the network accepts.
    public var url: URL? {
        URL(string: urlString)
    }

    /// Points the message at another absolute URL, under the rules of `init`.
    public mutating func setURL(_ url: String) throws(NetworkError) {
        let parts = try Self.parse(url)
        origin = parts.origin
        target = parts.target
    }

    /// The request with what the call declares as secret, if it does not know it.
    func knowing(_ declared: DeclaredSecrets) -> HTTPRequest {
        guard secrets.isEmpty, !declared.isEmpty else { return self }
        var copy = self
        copy.secrets = declared
        return copy
    }

    /// Adds one query item, percent-encoding both sides. An existing item of that name stays.
    public mutating func appendQuery(_ name: String, _ value: String) {
        target += target.holds("?") ? (target.ends(with: "?") || target.ends(with: "&") ? "" : "&") : "?"
        target += PercentCoding.encode(name, for: .queryName) + "=" + PercentCoding.encode(value, for: .queryValue)
    }

    /// Throws what would make the message unsafe or impossible to write.
    package func validate() throws(NetworkError) {
        if let problem = headers.problem {
            throw NetworkError(.invalidRequest, detail: problem.message, request: RequestLine(self))
        }
        if let name = headers.firstName(where: \.belongsToConnection) { throw Self.refusal(name, self) }
        if let problem = body.trailerProblem {
            throw NetworkError(.invalidRequest, detail: problem, request: RequestLine(self))
        }
        guard method.isValid else {
            throw NetworkError(
                .invalidRequest,
                detail: "The method is not a token of letters, digits and a few signs (RFC 9110 §9.1).",
                request: RequestLine(self))
        }
    }

    /// Why a field that belongs to the connection is not sent.
    private static func refusal(_ name: HTTPField.Name, _ request: HTTPRequest) -> NetworkError {
        let hint =
            switch name {
            case .host: "Put the host into the URL. `TransportConfiguration.dns.overrides` connects to another place."
            case .proxyAuthorization: "Give the credentials to the `ProxyServer` of the transport's configuration."
            default: "Leave it out. To pass on the fields of another request, take its `headers.endToEnd`."
            }
        return NetworkError(
            .invalidRequest, detail: "The field \(name.text) is written by the transport (RFC 9110 §7.6.1).",
            hint: hint,
            request: RequestLine(request))
    }

    /// The parts of an absolute URL, under the rules of `init`.
    static func parse(_ url: String) throws(NetworkError) -> URLParts {
        do {
            let parts = try URLParts(url)
            guard parts.userinfo == nil else {
                throw NetworkError(
                    .invalidRequest,
                    detail: "The URL holds a user name or password.",
                    hint: "Take them out of the URL and add an authentication interceptor for that origin.")
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
}

extension HTTPRequest: CustomStringConvertible {
    /// `GET https://host/path`, with secret query values replaced.
    public var description: String {
        RequestLine(self).description
    }
}

extension HTTPRequest: CustomReflectable {
    /// Shows the request line, the fields and the kind of the body, to debuggers and `dump` too; no secrets.
    public var customMirror: Mirror {
        // An interceptor may have set fields that know nothing of what was declared.
        var headers = headers
        secrets.declare(in: &headers)
        return Mirror(self, children: ["request": description, "headers": headers, "body": "\(body)"])
    }
}
