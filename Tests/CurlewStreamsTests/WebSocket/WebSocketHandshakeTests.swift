// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

/// The opening handshake (RFC 6455 §1.3 and §4.1).
@Suite(.timeLimit(.minutes(1)))
struct WebSocketHandshakeTests {
    private let key = "dGhlIHNhbXBsZSBub25jZQ=="

    private func response(_ change: (inout HTTPHeaders) -> Void = { _ in }) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers["Upgrade"] = "websocket"
        headers[.connection] = "Upgrade"
        headers["Sec-WebSocket-Accept"] = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        change(&headers)
        return headers
    }

    private func problem(
        _ headers: HTTPHeaders, status: HTTPStatus = 101, protocols: [String] = [],
        compresses: Bool = false
    ) -> String? {
        WebSocketHandshake.problem(
            in: headers, status: status, key: key, offeredProtocols: protocols, offersCompression: compresses)
    }

    @Test("§1.3: the example has its Sec-WebSocket-Accept")
    func example() {
        #expect(WebSocketHandshake.accept(for: key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(problem(response()) == nil)
    }

    /// Made by Python's hashlib. The lengths of the keys cross the boundaries of SHA-1's blocks and padding.
    @Test(
        "Hashes are right for keys of all lengths around the block size",
        arguments: [
            (0, "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w="),
            (1, "ifbkLlYnnZ6VH2fexKeR04WxMg0="),
            (18, "Sh6OYIj/gNUx9BPwIxCGL5DSxSQ="),
            (19, "HlSDjzZJqMYjv6UTFCuaEyTGi1E="),
            (20, "qQgEdTTwy7INNHEiCyUW/3qLju0="),
            (23, "OinkMK6rSpml7b1PncHfx1uMCD8="),
            (24, "6Hin2qsIV0NokBH66WrACRVpjzE="),
            (27, "T8MRe3EkpCF8fTExsfO6KhthTZ8="),
            (28, "dHeWZjuhOsXYBzUmYu9udZomhNY="),
            (29, "kfq/wYbxh81qg/CAcNdkG/5lS2M="),
            (83, "K0DK5s4PCFvN01oki6aHYXMdNu0="),
            (84, "bd2qoeC8ktjFNXhStwkqnOuYEBs="),
            (91, "g6V5g7n4tzSPt11J+dhWlxq1Q7s="),
            (92, "3CpJhw/ViSjf5qqJy/Lk9Ec3qiY="),
            (93, "lO6GnjiZkiyW7dWpU2riSjhGeTo="),
            (200, "6TaXpt+eQP3Rp3/F7UqEp0Zq4O8="),
        ] as [(Int, String)])
    func hashes(length: Int, accept: String) {
        let key = String((0..<length).map { Character(Unicode.Scalar(UInt8(33 + $0 % 90))) })
        #expect(WebSocketHandshake.accept(for: key) == accept)
    }

    @Test("§4.1: a key is 16 bytes in Base64, and new each time")
    func keys() {
        let keys = Set((0..<100).map { _ in WebSocketHandshake.makeKey() })
        #expect(keys.count == 100)
        #expect(keys.allSatisfy { Data(base64Encoded: $0)?.count == 16 })
    }

    @Test("§4.1: fields are compared as the RFC says: tokens without regard to case, in a list")
    func variants() {
        #expect(problem(response { $0["Upgrade"] = "WebSocket" }) == nil)
        #expect(problem(response { $0["Upgrade"] = " websocket\t" }) == nil)
        #expect(problem(response { $0[.connection] = "keep-alive, UPGRADE" }) == nil)
        #expect(problem(response { $0[.connection] = "upgrade ,keep-alive" }) == nil)
    }

    @Test("§4.1: another status is a problem", arguments: [200, 301, 401, 403, 426, 500, 100, 102])
    func status(number: Int) {
        #expect(problem(response(), status: HTTPStatus(number)) != nil)
    }

    @Test(
        "§4.1: Upgrade, Connection and Sec-WebSocket-Accept must match",
        arguments: [
            ("Upgrade", [nil, "", "h2c", "websocket2", "websocket, h2c", "web socket"]),
            ("Connection", [nil, "", "close", "keep-alive", "upgraded", "x upgrade"]),
            (
                "Sec-WebSocket-Accept",
                [
                    nil, "", "s3pplmbitxaq9kygzzhzrbk+xoo=", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo", "dGhlIHNhbXBsZSBub25jZQ==",
                    "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=, s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
                ]
            ),
        ] as [(HTTPField.Name, [String?])])
    func fields(name: HTTPField.Name, values: [String?]) {
        for value in values { #expect(problem(response { $0[name] = value })?.contains("\(name)") == true) }
    }

    @Test("§4.1: Sec-WebSocket-Accept must not be there twice")
    func acceptTwice() {
        let headers = response { $0.append("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") }
        #expect(headers[values: "Sec-WebSocket-Accept"].count == 2)
        #expect(problem(headers)?.contains("Accept") == true)
    }

    @Test("§4.1: the subprotocol must be one of those offered, in the same case")
    func subprotocols() {
        let offered = ["chat.v2", "chat.v1"]
        for name in offered {
            #expect(problem(response { $0["Sec-WebSocket-Protocol"] = name }, protocols: offered) == nil)
        }
        #expect(problem(response(), protocols: offered) == nil)
        for name in ["chat.v3", "CHAT.V1", "", "chat.v2, chat.v1"] {
            #expect(problem(response { $0["Sec-WebSocket-Protocol"] = name }, protocols: offered) != nil)
        }
        #expect(problem(response { $0["Sec-WebSocket-Protocol"] = "chat.v1" }) != nil)
        let both = response {
            $0.append("Sec-WebSocket-Protocol", "chat.v1")
            $0.append("Sec-WebSocket-Protocol", "chat.v2")
        }
        #expect(problem(both, protocols: offered) != nil)
    }

    @Test("§4.1: an extension that was not offered is a problem")
    func extensions() {
        let headers = response { $0["Sec-WebSocket-Extensions"] = "permessage-deflate" }
        #expect(problem(headers)?.contains("extension") == true)
        #expect(problem(headers, compresses: true) == nil)
    }
}
