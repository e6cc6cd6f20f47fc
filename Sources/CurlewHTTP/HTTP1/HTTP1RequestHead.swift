// SPDX-License-Identifier: MIT

/// The request line and fields of an HTTP/1.x request, as received.
package struct HTTP1RequestHead: Equatable, Sendable {
    package let method: HTTPMethod
    /// The request target as sent: "/path?query", "*", an absolute URL or, for CONNECT, an authority.
    package let target: String
    package let version: HTTPVersion
    package let headers: HTTPHeaders
    package let framing: Framing

    /// The framing of the content (RFC 9112 §6).
    package enum Framing: Equatable, Sendable {
        /// The content has this number of bytes: 0 without a Content-Length, because closing the connection never ends
        /// the content of a request.
        case length(Int)
        case chunked
    }

    /// Whether the client allows the connection to be reused (RFC 9112 §9.3).
    package var keepAlive: Bool {
        let options = headers[.connection] ?? ""
        func has(_ option: String) -> Bool {
            options.parts(",").contains {
                ASCII.equalIgnoringCase(FieldSyntax.trimmed(String($0)), option)
            }
        }
        return version >= .http1_1 ? !has("close") : has("keep-alive") && !has("close")
    }

    /// Whether the client waits for a 100 response before it sends the content (RFC 9110 §10.1.1).
    package var expectsContinue: Bool {
        version >= .http1_1 && framing != .length(0)
            && ASCII.equalIgnoringCase(headers[.expect] ?? "", "100-continue")
    }
}
