// SPDX-License-Identifier: MIT

import CurlewFoundation
package import CurlewHTTP

extension WebSocketHandshake {
    /// The response of a server to an opening handshake (RFC 6455 §4.2.2).
    package enum ServerResponse: Equatable, Sendable {
        /// The fields of the 101 response, the selected subprotocol, and the parameters of the compression.
        case accepted(HTTPHeaders, subprotocol: String?, compression: PerMessageDeflate?)
        /// The request is no valid handshake.
        case refused(HTTPStatus, HTTPHeaders, String)
    }

    /// Returns the response to a request (RFC 6455 §4.2.1).
    ///
    /// - `subprotocols`: those of the server. The first one of the client that the server has is selected.
    /// - `compresses`: whether the server accepts an offer of permessage-deflate.
    package static func response(
        to method: HTTPMethod, _ version: HTTPVersion, _ headers: HTTPHeaders, subprotocols: [String], compresses: Bool
    ) -> ServerResponse {
        guard method == .get, version >= .http1_1 else {
            return .refused(.badRequest, [:], "A WebSocket connection is opened by a GET of HTTP/1.1.")
        }
        guard tokens(headers[values: .upgrade]).contains("websocket") else {
            return .refused(
                426, [.upgrade: "websocket", .connection: "Upgrade"], "Upgrade is not websocket.")
        }
        guard tokens(headers[values: .connection]).contains("upgrade") else {
            return .refused(.badRequest, [:], "Connection does not contain Upgrade.")
        }
        guard headers[values: "Sec-WebSocket-Version"] == ["13"] else {
            return .refused(
                426, ["Sec-WebSocket-Version": "13"], "Sec-WebSocket-Version is not 13.")
        }
        let keys = headers[values: "Sec-WebSocket-Key"]
        guard keys.count == 1, let key = keys.first, Data(base64Encoded: key)?.count == 16 else {
            return .refused(.badRequest, [:], "Sec-WebSocket-Key is not 16 bytes in Base64.")
        }
        var fields: HTTPHeaders = [
            .upgrade: "websocket", .connection: "Upgrade", "Sec-WebSocket-Accept": accept(for: key),
        ]
        let offered = headers[values: "Sec-WebSocket-Protocol"].flatMap { value in
            value.parts(",").map { String($0.trimmed()) }
        }
        let subprotocol = offered.first { subprotocols.contains($0) }
        if let subprotocol { fields["Sec-WebSocket-Protocol"] = subprotocol }
        let compression =
            compresses ? PerMessageDeflate(offers: headers[values: "Sec-WebSocket-Extensions"]) : nil
        if let compression { fields["Sec-WebSocket-Extensions"] = compression.response }
        return .accepted(fields, subprotocol: subprotocol, compression: compression)
    }
}
