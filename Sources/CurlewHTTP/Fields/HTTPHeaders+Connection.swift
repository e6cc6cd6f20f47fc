// SPDX-License-Identifier: MIT

extension HTTPField.Name {
    /// Whether the field applies to a single connection or to the routing of the message, so that the sender of each
    /// message sets it (RFC 9110 §7.6.1). Includes fields that only older software uses.
    package var belongsToConnection: Bool {
        switch text.utf8.count {
        case 2: isSpelled("TE")
        case 4: isSpelled("Host")
        case 7: isSpelled("Trailer") || isSpelled("Upgrade")
        case 10: isSpelled("Connection") || isSpelled("Keep-Alive")
        case 14: isSpelled("HTTP2-Settings")
        case 16: isSpelled("Proxy-Connection")
        case 17: isSpelled("Transfer-Encoding")
        case 19: isSpelled("Proxy-Authorization")
        default: false
        }
    }

    private func isSpelled(_ name: String) -> Bool { ASCII.equalIgnoringCase(name, text) }
}

extension HTTPHeaders {
    /// The fields that an intermediary, such as a reverse proxy, may forward in its own request.
    ///
    /// Omits the fields of the connection that delivered the message (RFC 9110 §7.6.1): `Connection` and the fields
    /// that it names, `Host`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`, `Trailer`,
    /// `Transfer-Encoding`, `Upgrade` and `HTTP2-Settings`. A request that contains one of these fields is not sent.
    /// Also omits `Content-Length`, which is derived from the body.
    public var endToEnd: HTTPHeaders {
        let named = self[values: .connection].flatMap { $0.parts(",") }.map { String($0.trimmed()) }
        var result = self
        for name in Set(map(\.name)) {
            let isNamed = named.contains { ASCII.equalIgnoringCase($0, name.text) }
            if isNamed || name.belongsToConnection || name == .contentLength { result.remove(name) }
        }
        return result
    }
}
