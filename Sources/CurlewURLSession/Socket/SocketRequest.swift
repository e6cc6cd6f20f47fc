// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The opening request of a WebSocket connection, for URLSession.
enum SocketRequest {
    /// The fields that URLSession writes itself. With two keys, a server would refuse the request, and URLSession has
    /// no way to offer an extension.
    private static let ownFields: [HTTPField.Name] = [
        "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
    ]

    /// Returns why URLSession opens no WebSocket connections on `system`, with a hint; nil if it does.
    static func problem(on system: Platform) -> (text: String, hint: String)? {
        guard system == .linux else { return nil }
        return (
            "URLSession on Linux opens no WebSocket connections: Foundation is built without this part of libcurl.",
            "Use CurlTransport."
        )
    }

    /// Returns the `URLRequest` for an opening request: its URL has the scheme `ws` or `wss`. With another scheme,
    /// URLSession would end the process.
    static func message(_ request: HTTPRequest, on platform: Platform = .current) throws(NetworkError) -> URLRequest {
        var request = request
        for name in ownFields { request.headers.remove(name) }
        var message = try RequestGuard.message(request, skipsContentDecoding: false, closes: false, on: platform)
        let text = "ws" + request.urlString.dropFirst("http".utf8.count)
        guard request.urlString.begins(with: "http"), let url = URL(string: text), url.absoluteString == text else {
            throw NetworkError(
                .invalidRequest, detail: "Foundation's URL cannot represent the WebSocket URL.",
                request: NetworkError.RequestLine(request))
        }
        message.url = url
        return message
    }

    /// Returns the subprotocols that a request offers.
    static func subprotocols(_ request: HTTPRequest) -> [String] {
        request.headers[values: "Sec-WebSocket-Protocol"].flatMap { $0.parts(",").map { String($0.trimmed()) } }
    }
}
