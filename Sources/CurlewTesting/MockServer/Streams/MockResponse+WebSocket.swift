// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewStreams

extension MockResponse {
    /// The behaviour of a scripted WebSocket server.
    public struct SocketOptions: Sendable {
        /// The subprotocols of the server. The first one that the client offers and the server has is selected. Default
        /// none.
        public var subprotocols: [String] = []
        /// Whether the server accepts the client's offer of compression (permessage-deflate, RFC 7692). Default false.
        public var compresses = false
        /// Whether the server replies to pings. Default true.
        public var repliesToPings = true
        /// Whether the server replies to the client's close frame, and then closes the connection. Default true.
        public var repliesToClose = true
        /// The maximum size of a message in bytes, decompressed; the server closes with 1009 beyond it. Default 16 MiB.
        public var maximumMessageSize = 16 << 20

        /// Creates the default options.
        public init() {}
    }

    /// Returns a response that accepts a WebSocket connection (RFC 6455) and runs `script` as the server:
    ///
    ///     server.on(.get, "/chat") { _ in
    ///         .webSocket { peer in
    ///             while let message = try await peer.next() { try peer.send(message) }      // an echo
    ///         }
    ///     }
    ///
    /// The script begins after the 101 response has been sent, in a task of its own. When the script returns, the
    /// connection is closed with 1000. When the script throws, the connection is reset. The task is cancelled when the
    /// connection has ended or the server stops.
    ///
    /// A request that is not a valid handshake receives 400, or 426 if it does not upgrade to WebSocket 13. Fields of
    /// `with(headers:)` replace those of the handshake, to make it invalid. Delays and interruptions of the head apply.
    public static func webSocket(
        _ options: SocketOptions, _ script: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> MockResponse {
        var response = MockResponse(status: 101)
        response.socketScript = MockSocketScript(options, script)
        return response
    }

    /// Returns a response that accepts a WebSocket connection and runs `script` as the server; see
    /// `webSocket(_:_:)`.
    ///
    /// - `subprotocols`: the subprotocols of the server. Default none.
    /// - `compresses`: whether the server accepts the client's offer of compression (RFC 7692). Default false.
    public static func webSocket(
        subprotocols: [String] = [], compresses: Bool = false,
        _ script: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> MockResponse {
        var options = SocketOptions()
        options.subprotocols = subprotocols
        options.compresses = compresses
        return webSocket(options, script)
    }

    /// Returns the 101 response to `request`, with the parameters of the connection; or the refusal of a request that
    /// is no valid handshake.
    func handshake(
        _ script: MockSocketScript, with request: RecordedRequest
    ) -> (response: MockResponse, accepted: (subprotocol: String?, compression: PerMessageDeflate?)?) {
        let result = WebSocketHandshake.response(
            to: request.method, request.version, request.headers, subprotocols: script.options.subprotocols,
            compresses: script.options.compresses)
        switch result {
        case .accepted(let fields, let subprotocol, let compression):
            let accepted = changed { $0.headers = fields.merging($0.headers, replacing: true) }
            return (accepted, (subprotocol, compression))
        case .refused(let status, let fields, let text):
            return (MockResponse.problem(status, text).with(headers: fields), nil)
        }
    }
}
