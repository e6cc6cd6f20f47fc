// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// The server's side of the opening handshake (RFC 6455 §4.2), and of the negotiation of compression (RFC 7692 §5).
@Suite(.timeLimit(.minutes(1)))
struct WebSocketServerHandshakeTests {
    private func response(
        _ method: HTTPMethod = .get, version: HTTPVersion = .http1_1, subprotocols: [String] = [],
        compresses: Bool = false, change: (inout HTTPHeaders) -> Void = { _ in }
    ) -> WebSocketHandshake.ServerResponse {
        var headers: HTTPHeaders = [
            "Upgrade": "h2c, WebSocket", .connection: "keep-alive, Upgrade",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13",
        ]
        change(&headers)
        return WebSocketHandshake.response(
            to: method, version, headers, subprotocols: subprotocols, compresses: compresses)
    }

    private func status(_ response: WebSocketHandshake.ServerResponse) -> HTTPStatus {
        if case .refused(let status, _, _) = response { status } else { 101 }
    }

    @Test("§4.2.2: the client accepts the response")
    func accepted() throws {
        guard case .accepted(let headers, nil, nil) = response() else {
            Issue.record("The handshake was refused.")
            return
        }
        let problem = WebSocketHandshake.problem(
            in: headers, status: 101, key: "dGhlIHNhbXBsZSBub25jZQ==", offeredProtocols: [],
            offersCompression: false)
        #expect(problem == nil)
    }

    @Test("§4.2.1: a request without a required field is refused")
    func refusals() {
        #expect(status(response()) == 101)
        #expect(status(response(.post)) == .badRequest)
        #expect(status(response(version: .http1_0)) == .badRequest)
        #expect(status(response { $0["Upgrade"] = "h2c" }) == 426)
        #expect(status(response { $0[.connection] = "keep-alive" }) == .badRequest)
        for key in ["", "AAAA", "dGhlIHNhbXBsZSBub25jZQ", "!!!"] {
            #expect(status(response { $0["Sec-WebSocket-Key"] = key }) == .badRequest)
        }
        #expect(status(response { $0.append("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==") }) == .badRequest)
        for version in ["8", "13, 8", ""] {
            let response = response(change: { $0["Sec-WebSocket-Version"] = version })
            guard case .refused(426, let headers, _) = response
            else {
                Issue.record("Version \"\(version)\" was accepted.")
                continue
            }
            #expect(headers["Sec-WebSocket-Version"] == "13")
        }
    }

    @Test("§4.2.2: the server selects the client's first subprotocol that it has")
    func subprotocols() {
        let offer: (inout HTTPHeaders) -> Void = { headers in
            headers.append("Sec-WebSocket-Protocol", "a, b")
            headers.append("Sec-WebSocket-Protocol", "c")
        }
        for (own, expected) in [(["c", "b"], "b"), (["c"], "c"), (["d"], nil), ([], nil)] as [([String], String?)] {
            guard case .accepted(let headers, expected, _) = response(subprotocols: own, change: offer) else {
                Issue.record("\(own) did not select \(expected ?? "none").")
                continue
            }
            #expect(headers["Sec-WebSocket-Protocol"] == expected)
        }
    }

    @Test("RFC 7692 §5.1: the server selects the first offer that it supports, if any")
    func compression() {
        let offer: (inout HTTPHeaders) -> Void = { headers in
            headers["Sec-WebSocket-Extensions"] =
                "other; x=1, permessage-deflate; unknown, permessage-deflate; client_max_window_bits; "
                + "server_no_context_takeover, permessage-deflate"
        }
        guard case .accepted(let headers, _, let parameters?) = response(compresses: true, change: offer) else {
            Issue.record("The offer was not accepted.")
            return
        }
        #expect(parameters.serverNoContextTakeover && parameters.clientMaxWindowBits == nil)
        #expect(headers["Sec-WebSocket-Extensions"] == "permessage-deflate; server_no_context_takeover")
        #expect(PerMessageDeflate(response: [parameters.response]) == parameters)
        if case .accepted(_, _, .some) = response(change: offer) { Issue.record("The server does not compress.") }
        if case .accepted(_, _, .some) = response(compresses: true) { Issue.record("The client offers none.") }
        var all = PerMessageDeflate()
        (all.serverMaxWindowBits, all.clientMaxWindowBits) = (9, 15)
        (all.serverNoContextTakeover, all.clientNoContextTakeover) = (true, true)
        #expect(PerMessageDeflate(response: [all.response]) == all)
        #expect(PerMessageDeflate(offers: [all.response]) == all)
        #expect(PerMessageDeflate(offers: ["permessage-deflate; server_max_window_bits"]) == nil)
    }
}
