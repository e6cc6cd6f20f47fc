// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The parameters of permessage-deflate (RFC 7692 §7.1).
package struct PerMessageDeflate: Equatable, Sendable {
    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    /// The window of the server in bits, 8 to 15; nil for 15.
    var serverMaxWindowBits: Int?
    /// The window of the client in bits, 8 to 15; nil for 15.
    var clientMaxWindowBits: Int?

    package init() {}

    /// The offer of a client that requests these parameters, and that accepts any window of its own (RFC 7692
    /// §7.1.2.2).
    var offer: String {
        clientMaxWindowBits == nil ? response + "; client_max_window_bits" : response
    }

    /// Reads the response of a server to `offer`. Returns nil if it selects anything else, has invalid parameters, or
    /// does not meet the offer (RFC 7692 §7.1).
    init?(response values: [String], to offer: PerMessageDeflate) {
        self.init(response: values)
        guard serverNoContextTakeover || !offer.serverNoContextTakeover else { return nil }
        guard serverMaxWindowBits ?? 15 <= offer.serverMaxWindowBits ?? 15 else { return nil }
        // The client may keep less than the server allows.
        clientNoContextTakeover = clientNoContextTakeover || offer.clientNoContextTakeover
        if let maximum = offer.clientMaxWindowBits { clientMaxWindowBits = min(clientMaxWindowBits ?? 15, maximum) }
    }

    /// Reads the response of a server. Returns nil if it selects anything else, or has invalid parameters.
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
        guard let number = Int(text), (8...15).contains(number), "\(number)" == text else { return nil }
        return number
    }
}
