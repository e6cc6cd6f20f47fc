// SPDX-License-Identifier: MIT

extension HTTPField.Name {
    /// Accept: media types that the client accepts.
    public static var accept: HTTPField.Name { HTTPField.Name("Accept") }
    /// Accept-Encoding: content codings that the client accepts.
    public static var acceptEncoding: HTTPField.Name { HTTPField.Name("Accept-Encoding") }
    /// Accept-Language: languages that the client prefers.
    public static var acceptLanguage: HTTPField.Name { HTTPField.Name("Accept-Language") }
    /// Age: seconds since the origin generated or validated the response.
    public static var age: HTTPField.Name { HTTPField.Name("Age") }
    /// Authorization: credentials for the origin.
    public static var authorization: HTTPField.Name { HTTPField.Name("Authorization") }
    /// Cache-Control: directives for caches.
    public static var cacheControl: HTTPField.Name { HTTPField.Name("Cache-Control") }
    /// Connection: options for this connection only.
    package static var connection: HTTPField.Name { HTTPField.Name("Connection") }
    /// Content-Disposition: how to present the content, and a file name for it (RFC 6266).
    public static var contentDisposition: HTTPField.Name { HTTPField.Name("Content-Disposition") }
    /// Content-Encoding: the content codings applied to the content.
    public static var contentEncoding: HTTPField.Name { HTTPField.Name("Content-Encoding") }
    /// Content-Length: the size of the content in bytes.
    public static var contentLength: HTTPField.Name { HTTPField.Name("Content-Length") }
    /// Content-Range: the part of the representation that the content contains.
    package static var contentRange: HTTPField.Name { HTTPField.Name("Content-Range") }
    /// Content-Type: the media type of the content.
    public static var contentType: HTTPField.Name { HTTPField.Name("Content-Type") }
    /// Cookie: cookies sent by the client (RFC 6265).
    public static var cookie: HTTPField.Name { HTTPField.Name("Cookie") }
    /// Date: when the message was created.
    public static var date: HTTPField.Name { HTTPField.Name("Date") }
    /// ETag: the entity tag of the representation, a validator.
    public static var eTag: HTTPField.Name { HTTPField.Name("ETag") }
    /// Host: the host and port of the target.
    public static var host: HTTPField.Name { HTTPField.Name("Host") }
    /// Idempotency-Key: a value that lets a server recognize a repeated request.
    public static var idempotencyKey: HTTPField.Name { HTTPField.Name("Idempotency-Key") }
    /// If-Match: entity tags; the request is processed only if one matches.
    public static var ifMatch: HTTPField.Name { HTTPField.Name("If-Match") }
    /// If-Modified-Since: a date; the response is a 304 if the representation has not changed since.
    public static var ifModifiedSince: HTTPField.Name { HTTPField.Name("If-Modified-Since") }
    /// If-None-Match: entity tags; the request is processed only if none matches.
    public static var ifNoneMatch: HTTPField.Name { HTTPField.Name("If-None-Match") }
    /// Last-Modified: the date of the last change of the representation.
    public static var lastModified: HTTPField.Name { HTTPField.Name("Last-Modified") }
    /// Link: typed links to other resources (RFC 8288).
    public static var link: HTTPField.Name { HTTPField.Name("Link") }
    /// Location: the target of a redirect, or the created resource.
    public static var location: HTTPField.Name { HTTPField.Name("Location") }
    /// Origin: the origin that caused the request (RFC 6454).
    public static var origin: HTTPField.Name { HTTPField.Name("Origin") }
    /// Range: the requested part of the representation.
    public static var range: HTTPField.Name { HTTPField.Name("Range") }
    /// Referer: the URI of the resource that refers to the target.
    public static var referer: HTTPField.Name { HTTPField.Name("Referer") }
    /// Retry-After: the delay or the date after which the client may retry.
    public static var retryAfter: HTTPField.Name { HTTPField.Name("Retry-After") }
    /// Server: the software of the origin server.
    public static var server: HTTPField.Name { HTTPField.Name("Server") }
    /// Set-Cookie: a cookie to store (RFC 6265). Several of these fields are never combined into one.
    public static var setCookie: HTTPField.Name { HTTPField.Name("Set-Cookie") }
    /// Transfer-Encoding: the transfer codings of the body, such as chunked.
    public static var transferEncoding: HTTPField.Name { HTTPField.Name("Transfer-Encoding") }
    /// User-Agent: the software of the client.
    public static var userAgent: HTTPField.Name { HTTPField.Name("User-Agent") }
    /// Vary: the request fields that influenced the choice of the representation.
    public static var vary: HTTPField.Name { HTTPField.Name("Vary") }
    /// Warning: additional information about a response; obsolete (RFC 9111 §5.5).
    public static var warning: HTTPField.Name { HTTPField.Name("Warning") }
    /// WWW-Authenticate: challenges from the origin.
    public static var wwwAuthenticate: HTTPField.Name { HTTPField.Name("WWW-Authenticate") }
    /// X-API-Key: an API key; a common name that no standard defines.
    public static var xAPIKey: HTTPField.Name { HTTPField.Name("X-API-Key") }
    /// X-Request-ID: an identifier of the request; a common name that no standard defines.
    public static var xRequestID: HTTPField.Name { HTTPField.Name("X-Request-ID") }
}
