// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The request line and fields of an HTTP/1.x request, as received.
struct HTTP1RequestHead: Equatable, Sendable {
    let method: HTTPMethod
    /// The request target as sent: "/path?query", "*", an absolute URL or, for CONNECT, an authority.
    let target: String
    let version: HTTPVersion
    let headers: HTTPHeaders
    let framing: Framing

    /// The framing of the content (RFC 9112 §6).
    enum Framing: Equatable, Sendable {
        /// The content has this number of bytes: 0 without a Content-Length, because closing the connection never ends
        /// the content of a request.
        case length(Int)
        case chunked
    }

    /// Whether the client allows the connection to be reused (RFC 9112 §9.3).
    var keepAlive: Bool {
        let options = (headers[.connection] ?? "").parts(",").map { ASCII.lowercased(String($0.trimmed())) }
        return !options.contains("close") && (version >= .http1_1 || options.contains("keep-alive"))
    }

    /// Whether the client waits for a 100 response before it sends the content (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        version >= .http1_1 && framing != .length(0) && ASCII.lowercased(headers["Expect"] ?? "") == "100-continue"
    }
}
