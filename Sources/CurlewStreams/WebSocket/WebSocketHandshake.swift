// SPDX-License-Identifier: MIT

import CurlewFoundation
package import CurlewHTTP

/// The fields of the opening handshake (RFC 6455 §4).
package enum WebSocketHandshake {
    /// Returns a new key: 16 random bytes in Base64.
    static func makeKey() -> String {
        Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }

    /// Returns the value of Sec-WebSocket-Accept for a key.
    static func accept(for key: String) -> String {
        Data(SHA1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }

    /// Returns the problem of a server's response; nil if it is valid (RFC 6455 §4.1).
    static func problem(
        in headers: HTTPHeaders, status: HTTPStatus, key: String, offeredProtocols: [String], offersCompression: Bool
    ) -> String? {
        guard status == 101 else { return "The status is \(status)." }
        guard tokens(headers[values: "Upgrade"]) == ["websocket"] else { return "Upgrade is not websocket." }
        guard tokens(headers[values: .connection]).contains("upgrade") else {
            return "Connection does not contain Upgrade."
        }
        let accepts = headers[values: "Sec-WebSocket-Accept"]
        guard accepts.count == 1, accepts.first == accept(for: key) else {
            return "Sec-WebSocket-Accept does not match the key."
        }
        let protocols = headers[values: "Sec-WebSocket-Protocol"]
        guard protocols.allSatisfy({ offeredProtocols.contains($0) }), protocols.count <= 1 else {
            return "The server selected a subprotocol that was not offered."
        }
        let extensions = headers[values: "Sec-WebSocket-Extensions"]
        guard extensions.isEmpty || offersCompression else {
            return "The server selected an extension that was not offered."
        }
        return nil
    }

    static func tokens(_ values: [String]) -> [String] {
        values.flatMap { value in value.parts(",").map { $0.trimmed().lowercased() } }
    }
}

/// SHA-1 (FIPS 180-4), for the handshake only: it proves that the server understands WebSocket, and protects nothing.
private enum SHA1 {
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: (message.count * 8) >> (56 - 8 * $0)) }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: bytes.count, by: 64) {
            var words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start + word * 4 + $1]) }
            }
            for index in 16..<80 {
                words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for index in 0..<80 {
                let (mixed, constant): (UInt32, UInt32) =
                    switch index {
                    case ..<20: ((b & c) | (~b & d), 0x5A82_7999)
                    case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                    case ..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                let next = rotate(a, 5) &+ mixed &+ e &+ constant &+ words[index]
                (e, d, c, b, a) = (d, c, rotate(b, 30), a, next)
            }
            for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }

    private static func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value << count | value >> (32 - count)
    }
}

extension WebSocketHandshake {
    /// The response of a server to an opening handshake (RFC 6455 §4.2.2).
    package enum ServerResponse: Equatable, Sendable {
        /// The fields of the 101 response, the selected subprotocol, and the parameters of the compression.
        case accepted(HTTPHeaders, subprotocol: String?, compression: PerMessageDeflate?)
        case refused(HTTPStatus, HTTPHeaders, String)
    }

    /// Returns the response to a request (RFC 6455 §4.2.1).
    ///
    /// - `subprotocols`: those of the server. The response selects the first of the client's offers that is among them.
    /// - `compresses`: whether the server accepts an offer of permessage-deflate.
    package static func response(
        to method: HTTPMethod, _ version: HTTPVersion, _ headers: HTTPHeaders, subprotocols: [String], compresses: Bool
    ) -> ServerResponse {
        guard method == .get, version >= .http1_1 else {
            return .refused(.badRequest, [:], "A WebSocket connection is opened by a GET of HTTP/1.1.")
        }
        guard tokens(headers[values: "Upgrade"]).contains("websocket") else {
            return .refused(
                426, ["Upgrade": "websocket", .connection: "Upgrade"], "Upgrade is not websocket.")
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
            "Upgrade": "websocket", .connection: "Upgrade", "Sec-WebSocket-Accept": accept(for: key),
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

/// The parameters of permessage-deflate (RFC 7692 §7.1).
package struct PerMessageDeflate: Equatable, Sendable {
    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    /// The window of the server in bits, 8 to 15; nil for 15.
    var serverMaxWindowBits: Int?
    /// The window of the client in bits, 8 to 15; nil for 15.
    var clientMaxWindowBits: Int?

    package init() {}

    /// The offer of a client, which accepts any window of its own (RFC 7692 §7.1.2.2).
    static let offer = "permessage-deflate; client_max_window_bits"

    /// Reads the response of a server (RFC 7692 §7.1). Nil if it selects anything else, or has invalid parameters.
    init?(response values: [String]) {
        self.init(values.joined(separator: ","), isOffer: false)
    }

    /// Reads the first offer of a client that a server can accept (RFC 7692 §5); nil if there is none.
    init?(offers values: [String]) {
        for value in values {
            for offer in value.parts(",") {
                guard let parameters = Self(String(offer), isOffer: true) else { continue }
                self = parameters
                return
            }
        }
        return nil
    }

    /// The response of a server that accepts these parameters.
    var response: String {
        var parts = ["permessage-deflate"]
        if serverNoContextTakeover { parts.append("server_no_context_takeover") }
        if clientNoContextTakeover { parts.append("client_no_context_takeover") }
        if let serverMaxWindowBits { parts.append("server_max_window_bits=\(serverMaxWindowBits)") }
        if let clientMaxWindowBits { parts.append("client_max_window_bits=\(clientMaxWindowBits)") }
        return parts.joined(separator: "; ")
    }

    private init?(_ text: String, isOffer: Bool) {
        let parts = text.parts(";", keepingEmpty: true).map { $0.trimmed() }
        guard let first = parts.first, first.lowercased() == "permessage-deflate" else { return nil }
        var seen: Set<String> = []
        for part in parts.dropFirst() {
            let pair = part.parts("=", maximum: 2, keepingEmpty: true).map { String($0.trimmed()) }
            guard let name = pair.first?.lowercased(), seen.insert(name).inserted else { return nil }
            var value = pair.count > 1 ? pair[1] : nil
            if let quoted = value, quoted.utf8.count >= 2, quoted.begins(with: "\""), quoted.ends(with: "\"") {
                value = String(quoted.dropFirst().dropLast())
            }
            switch (name, value) {
            case ("server_no_context_takeover", nil): serverNoContextTakeover = true
            case ("client_no_context_takeover", nil): clientNoContextTakeover = true
            case ("server_max_window_bits", let bits?):
                guard let bits = Self.bits(bits) else { return nil }
                serverMaxWindowBits = bits
            case ("client_max_window_bits", let bits?):
                guard let bits = Self.bits(bits) else { return nil }
                clientMaxWindowBits = bits
            // A client may offer the parameter without a value: it accepts any window (RFC 7692 §7.1.2.2).
            case ("client_max_window_bits", nil) where isOffer: break
            default: return nil
            }
        }
    }

    /// Returns a number from 8 to 15 without leading zeros; nil for anything else.
    private static func bits(_ text: String) -> Int? {
        guard let number = ASCII.decimal(text[...]).flatMap(Int.init(exactly:)), (8...15).contains(number),
            "\(number)" == text
        else { return nil }
        return number
    }
}
