// SPDX-License-Identifier: MIT

extension HTTPField.Name {
    /// Accept: media types that the client accepts.
    public static var accept: HTTPField.Name { HTTPField.Name("Accept") }
    /// Accept-Encoding: content codings that the client accepts.
    public static var acceptEncoding: HTTPField.Name { HTTPField.Name("Accept-Encoding") }
    /// Accept-Language: languages that the client prefers.
    public static var acceptLanguage: HTTPField.Name { HTTPField.Name("Accept-Language") }
    /// Accept-Ranges: whether the resource serves ranges.
    public static var acceptRanges: HTTPField.Name { HTTPField.Name("Accept-Ranges") }
    /// Age: seconds since the origin generated or validated the response.
    public static var age: HTTPField.Name { HTTPField.Name("Age") }
    /// Allow: methods that the resource supports.
    public static var allow: HTTPField.Name { HTTPField.Name("Allow") }
    /// Alt-Svc: alternative services of the origin (RFC 7838).
    public static var altSvc: HTTPField.Name { HTTPField.Name("Alt-Svc") }
    /// Authorization: credentials for the origin.
    public static var authorization: HTTPField.Name { HTTPField.Name("Authorization") }
    /// Cache-Control: directives for caches.
    public static var cacheControl: HTTPField.Name { HTTPField.Name("Cache-Control") }
    /// Connection: options for this connection only.
    public static var connection: HTTPField.Name { HTTPField.Name("Connection") }
    /// Content-Disposition: how to present the content, and its file name (RFC 6266).
    public static var contentDisposition: HTTPField.Name { HTTPField.Name("Content-Disposition") }
    /// Content-Encoding: codings applied to the content.
    public static var contentEncoding: HTTPField.Name { HTTPField.Name("Content-Encoding") }
    /// Content-Language: the audience's languages.
    public static var contentLanguage: HTTPField.Name { HTTPField.Name("Content-Language") }
    /// Content-Length: the size of the content in bytes.
    public static var contentLength: HTTPField.Name { HTTPField.Name("Content-Length") }
    /// Content-Location: a URI of this specific representation.
    public static var contentLocation: HTTPField.Name { HTTPField.Name("Content-Location") }
    /// Content-Range: the part of the representation that the content contains.
    public static var contentRange: HTTPField.Name { HTTPField.Name("Content-Range") }
    /// Content-Type: the media type of the content.
    public static var contentType: HTTPField.Name { HTTPField.Name("Content-Type") }
    /// Cookie: cookies sent by the client (RFC 6265).
    public static var cookie: HTTPField.Name { HTTPField.Name("Cookie") }
    /// Date: when the message was created.
    public static var date: HTTPField.Name { HTTPField.Name("Date") }
    /// ETag: the validator of the representation.
    public static var eTag: HTTPField.Name { HTTPField.Name("ETag") }
    /// Expect: behaviour that the server has to support, such as 100-continue.
    public static var expect: HTTPField.Name { HTTPField.Name("Expect") }
    /// Expires: when the response becomes stale.
    public static var expires: HTTPField.Name { HTTPField.Name("Expires") }
    /// Forwarded: what proxies changed or hid (RFC 7239).
    public static var forwarded: HTTPField.Name { HTTPField.Name("Forwarded") }
    /// Host: host and port of the target.
    public static var host: HTTPField.Name { HTTPField.Name("Host") }
    /// Idempotency-Key: lets a server recognise a repeated request.
    public static var idempotencyKey: HTTPField.Name { HTTPField.Name("Idempotency-Key") }
    /// If-Match: proceed only if the validator matches.
    public static var ifMatch: HTTPField.Name { HTTPField.Name("If-Match") }
    /// If-Modified-Since: proceed only if modified since the date.
    public static var ifModifiedSince: HTTPField.Name { HTTPField.Name("If-Modified-Since") }
    /// If-None-Match: proceed only if no validator matches.
    public static var ifNoneMatch: HTTPField.Name { HTTPField.Name("If-None-Match") }
    /// If-Range: serve the range only if the validator matches.
    public static var ifRange: HTTPField.Name { HTTPField.Name("If-Range") }
    /// If-Unmodified-Since: proceed only if not modified since the date.
    public static var ifUnmodifiedSince: HTTPField.Name { HTTPField.Name("If-Unmodified-Since") }
    /// Keep-Alive: hints about a persistent connection (RFC 2068).
    public static var keepAlive: HTTPField.Name { HTTPField.Name("Keep-Alive") }
    /// Last-Modified: when the representation last changed.
    public static var lastModified: HTTPField.Name { HTTPField.Name("Last-Modified") }
    /// Link: typed links to other resources (RFC 8288).
    public static var link: HTTPField.Name { HTTPField.Name("Link") }
    /// Location: the target of a redirect, or the created resource.
    public static var location: HTTPField.Name { HTTPField.Name("Location") }
    /// Origin: the origin that caused the request (RFC 6454).
    public static var origin: HTTPField.Name { HTTPField.Name("Origin") }
    /// Pragma: deprecated by RFC 9111 §5.4.
    public static var pragma: HTTPField.Name { HTTPField.Name("Pragma") }
    /// Prefer: preferences about the behaviour (RFC 7240).
    public static var prefer: HTTPField.Name { HTTPField.Name("Prefer") }
    /// Proxy-Authenticate: challenges from a proxy.
    public static var proxyAuthenticate: HTTPField.Name { HTTPField.Name("Proxy-Authenticate") }
    /// Proxy-Authorization: credentials for a proxy.
    public static var proxyAuthorization: HTTPField.Name { HTTPField.Name("Proxy-Authorization") }
    /// Range: the requested part of the representation.
    public static var range: HTTPField.Name { HTTPField.Name("Range") }
    /// Referer: the resource that refers to the target.
    public static var referer: HTTPField.Name { HTTPField.Name("Referer") }
    /// Retry-After: when to retry.
    public static var retryAfter: HTTPField.Name { HTTPField.Name("Retry-After") }
    /// Server: the software of the origin.
    public static var server: HTTPField.Name { HTTPField.Name("Server") }
    /// Set-Cookie: a cookie to store (RFC 6265). Several fields are never combined.
    public static var setCookie: HTTPField.Name { HTTPField.Name("Set-Cookie") }
    /// Strict-Transport-Security: use only secure connections (RFC 6797).
    public static var strictTransportSecurity: HTTPField.Name { HTTPField.Name("Strict-Transport-Security") }
    /// TE: transfer codings that the client accepts.
    public static var te: HTTPField.Name { HTTPField.Name("TE") }
    /// Traceparent: the position in a distributed trace (W3C Trace Context).
    public static var traceparent: HTTPField.Name { HTTPField.Name("Traceparent") }
    /// Tracestate: vendors' positions in a distributed trace (W3C Trace Context).
    public static var tracestate: HTTPField.Name { HTTPField.Name("Tracestate") }
    /// Trailer: fields that follow the content.
    public static var trailer: HTTPField.Name { HTTPField.Name("Trailer") }
    /// Transfer-Encoding: how the message body is framed.
    public static var transferEncoding: HTTPField.Name { HTTPField.Name("Transfer-Encoding") }
    /// Upgrade: protocols to switch to.
    public static var upgrade: HTTPField.Name { HTTPField.Name("Upgrade") }
    /// User-Agent: the software of the client.
    public static var userAgent: HTTPField.Name { HTTPField.Name("User-Agent") }
    /// Vary: the request fields that selected the representation.
    public static var vary: HTTPField.Name { HTTPField.Name("Vary") }
    /// Via: the proxies on the path.
    public static var via: HTTPField.Name { HTTPField.Name("Via") }
    /// Warning: deprecated by RFC 9111 §5.5.
    public static var warning: HTTPField.Name { HTTPField.Name("Warning") }
    /// WWW-Authenticate: challenges from the origin.
    public static var wwwAuthenticate: HTTPField.Name { HTTPField.Name("WWW-Authenticate") }
    /// X-API-Key: a customary name for an access key.
    public static var xAPIKey: HTTPField.Name { HTTPField.Name("X-API-Key") }
    /// X-Request-ID: a customary name for an identifier of the request.
    public static var xRequestID: HTTPField.Name { HTTPField.Name("X-Request-ID") }
}
