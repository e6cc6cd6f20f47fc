// SPDX-License-Identifier: MIT

/// A response status code (RFC 9110 §15). Any number is kept as received.
public struct HTTPStatus: Hashable, Comparable, Sendable {
    /// The status code as a number, such as 404.
    public let code: Int

    /// Creates a status from any number.
    public init(_ code: Int) {
        self.code = code
    }

    /// Whether the code is 100–199, which marks an interim response.
    package var isInformational: Bool { (100...199).contains(code) }
    /// Whether the code is 200–299.
    public var isSuccess: Bool { (200...299).contains(code) }
    /// Whether the code is 300–399. Includes 304, which is not a redirect to follow.
    public var isRedirection: Bool { (300...399).contains(code) }
    /// Whether the code is 400–499.
    public var isClientError: Bool { (400...499).contains(code) }
    /// Whether the code is 500–599.
    public var isServerError: Bool { (500...599).contains(code) }

    /// Whether a response with this status never has content: 1xx, 204 and 304 (RFC 9110 §6.4.1).
    package var forbidsContent: Bool {
        isInformational || code == 204 || code == 304
    }

    /// Returns whether the left code is the smaller number.
    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool {
        left.code < right.code
    }
}

extension HTTPStatus: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates a status from an integer literal.
    public init(integerLiteral value: Int) {
        self.init(value)
    }

    /// The code and its ``reasonPhrase``, such as "404 Not Found", or only the code if the phrase is empty.
    public var description: String {
        let phrase = reasonPhrase
        return phrase.isEmpty ? String(code) : "\(code) \(phrase)"
    }
}

extension HTTPStatus {
    /// 103. Fields that the final response is likely to have (RFC 8297).
    public static var earlyHints: HTTPStatus { 103 }
    /// 200. The request succeeded.
    public static var ok: HTTPStatus { 200 }
    /// 201. A resource was created; Location may name it.
    public static var created: HTTPStatus { 201 }
    /// 202. The request was accepted, but its processing is not complete.
    public static var accepted: HTTPStatus { 202 }
    /// 204. The request succeeded, and the response has no content.
    public static var noContent: HTTPStatus { 204 }
    /// 206. The response contains only the requested ranges.
    public static var partialContent: HTTPStatus { 206 }
    /// 302. The resource is temporarily at another URI.
    public static var found: HTTPStatus { 302 }
    /// 304. The representation has not changed, so a stored response can be used.
    public static var notModified: HTTPStatus { 304 }
    /// 307. The resource is temporarily at another URI. The method must not change.
    public static var temporaryRedirect: HTTPStatus { 307 }
    /// 400. The server cannot or will not process the request.
    public static var badRequest: HTTPStatus { 400 }
    /// 401. The request has no valid credentials for the resource.
    public static var unauthorized: HTTPStatus { 401 }
    /// 403. The server understood the request and refuses it.
    public static var forbidden: HTTPStatus { 403 }
    /// 404. The resource does not exist, or the server does not disclose it.
    public static var notFound: HTTPStatus { 404 }
    /// 408. The server timed out waiting for the request.
    public static var requestTimeout: HTTPStatus { 408 }
    /// 409. The request conflicts with the resource's state.
    public static var conflict: HTTPStatus { 409 }
    /// 410. The resource has been removed permanently.
    public static var gone: HTTPStatus { 410 }
    /// 412. A condition of the request is false.
    public static var preconditionFailed: HTTPStatus { 412 }
    /// 413. The content is larger than the server accepts.
    public static var contentTooLarge: HTTPStatus { 413 }
    /// 415. The resource does not support the type of the content.
    public static var unsupportedMediaType: HTTPStatus { 415 }
    /// 416. None of the requested ranges overlaps the representation.
    public static var rangeNotSatisfiable: HTTPStatus { 416 }
    /// 422. The content is well-formed, but its instructions cannot be followed.
    public static var unprocessableContent: HTTPStatus { 422 }
    /// 429. The client sent too many requests in a given time (RFC 6585).
    public static var tooManyRequests: HTTPStatus { 429 }
    /// 500. The server encountered an unexpected condition.
    public static var internalServerError: HTTPStatus { 500 }
    /// 502. A gateway or proxy received an invalid response.
    public static var badGateway: HTTPStatus { 502 }
    /// 503. The server is temporarily overloaded or under maintenance.
    public static var serviceUnavailable: HTTPStatus { 503 }
    /// 504. A gateway or proxy received no response in time.
    public static var gatewayTimeout: HTTPStatus { 504 }

    /// The reason phrase that the IANA registry lists for the code. Empty for any other code, and for some codes of
    /// WebDAV and other extensions, such as 207 and 423.
    ///
    /// HTTP/2 and HTTP/3 carry no reason phrase, and clients must not depend on one. A status does not contain the
    /// phrase that the server sent; `HTTPResponse.reasonPhrase` does.
    public var reasonPhrase: String {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 305: "Use Proxy"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        case 508: "Loop Detected"
        case 511: "Network Authentication Required"
        default: ""
        }
    }
}
