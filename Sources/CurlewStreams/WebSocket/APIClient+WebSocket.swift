// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension APIClient {
    /// Opens a WebSocket connection (RFC 6455).
    ///
    /// The opening request is an ordinary GET: it passes the client's interceptors, and has the client's credentials,
    /// proxies, pins and timeouts. The total timeout limits only the opening, and the idle timeout does not apply. The
    /// request uses HTTP/1.1 on a new connection, which does not count towards the limits of the transport's pool.
    ///
    /// Throws the errors of a call, with `.status` also for a redirect, which is not followed; `.invalidRequest` for
    /// another method or a body; `.badResponse` for an invalid handshake and for a success other than 101; and
    /// `.configuration` if the transport does not support WebSocket. `CurlTransport`, `MockTransport` and, on Apple
    /// platforms, `URLSessionTransport` support it. Over URLSession, the response of a server that refuses has no body,
    /// and messages are not compressed.
    @concurrent
    public func webSocket(
        _ route: some Route, options: WebSocket.Options = WebSocket.Options()
    ) async throws(NetworkError) -> WebSocket {
        try await openSocket(route, options)
    }

    /// Opens a WebSocket connection with an inline request, such as `.get("/chat")` or `.get(url: "wss://host/chat")`.
    @concurrent
    public func webSocket(
        _ request: Request<Void>, options: WebSocket.Options = WebSocket.Options()
    ) async throws(NetworkError) -> WebSocket {
        try await openSocket(request, options)
    }

    private func openSocket(
        _ route: some Route, _ options: WebSocket.Options
    ) async throws(NetworkError) -> WebSocket {
        let output = OutgoingBytes(capacity: options.outgoingBytes)
        let opening = WebSocketOpening(options: options)
        let changes = CallChanges { call in
            call.isLive = true
            call.isSingleHop = true
            call.timeouts.idle = nil
            call.limits.responseBody = .max
            call.acceptedStatuses.insert(101)
            call.upgrade = ProtocolUpgrade(output: output, messageLimit: options.maximumMessageSize)
        } request: { request, _ throws(NetworkError) in
            try opening.prepare(&request)
        }
        let call = try await OpenResponse(of: route, from: self, changing: changes)
        do throws(NetworkError) {
            let link = try opening.link(call.response, output)
            let core = WebSocketCore(link, options: options, time: call.context.time) { call.named($0) }
            return WebSocket(core, subprotocol: opening.subprotocol(call.response), call)
        } catch {
            output.detach()
            await call.end()
            throw call.named(error)
        }
    }
}

/// The opening handshake of one connection (RFC 6455 §4.1).
private struct WebSocketOpening: Sendable {
    let options: WebSocket.Options
    let key = WebSocketHandshake.makeKey()

    func prepare(_ request: inout HTTPRequest) throws(NetworkError) {
        guard request.method == .get, request.body.isEmpty else {
            throw NetworkError(
                .invalidRequest, detail: "A WebSocket connection is opened by a GET without a body.",
                hint: "Use a route with the method GET.")
        }
        request.headers["Sec-WebSocket-Version"] = "13"
        request.headers["Sec-WebSocket-Key"] = key
        if !options.subprotocols.isEmpty {
            request.headers["Sec-WebSocket-Protocol"] = options.subprotocols.joined(separator: ", ")
        }
        if options.compression != nil { request.headers["Sec-WebSocket-Extensions"] = PerMessageDeflate.offer }
    }

    /// Checks the response and returns the link over its connection.
    func link(_ response: HTTPResponse, _ output: OutgoingBytes) throws(NetworkError) -> any WebSocketLink {
        guard response.status == 101 else {
            throw NetworkError(
                .badResponse, detail: "The server sent \(response.status) instead of switching to WebSocket.",
                hint: "Check the path: this endpoint may serve ordinary requests only.")
        }
        if let connection = response.messageConnection { return MessageLink(connection) }
        let problem = WebSocketHandshake.problem(
            in: response.headers, status: response.status, key: key, offeredProtocols: options.subprotocols,
            offersCompression: options.compression != nil)
        if let problem {
            throw NetworkError(.badResponse, detail: "The WebSocket handshake failed: \(problem)")
        }
        var compression: (any WebSocketCompression)?
        let extensions = response.headers[values: "Sec-WebSocket-Extensions"]
        if options.compression != nil, !extensions.isEmpty {
            guard let parameters = PerMessageDeflate(response: extensions) else {
                throw NetworkError(
                    .badResponse,
                    detail: "The WebSocket handshake failed: The server selected parameters of permessage-deflate that "
                        + "were not offered.")
            }
            compression = try DeflateCompression(parameters, role: .client)
        }
        let limits = WebSocketMachine.Limits(message: options.maximumMessageSize, frame: options.maximumFrameSize)
        return ByteLink(
            WebSocketMachine(role: .client, limits: limits, compression: compression), output: output,
            body: response.body)
    }

    func subprotocol(_ response: HTTPResponse) -> String? {
        if let connection = response.messageConnection { return connection.subprotocol }
        return response.headers["Sec-WebSocket-Protocol"]
    }
}
