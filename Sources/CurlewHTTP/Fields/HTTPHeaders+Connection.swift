// SPDX-License-Identifier: MIT

extension HTTPField.Name {
    /// Whether a field says something about one connection, or where a message goes, and so belongs to whoever writes it:
    /// RFC 9110 §7.6.1, with what older software sends.
    package var belongsToConnection: Bool {
        let names: [String] =
            switch text.utf8.count {
            case 2: ["TE"]
            case 4: ["Host"]
            case 7: ["Trailer", "Upgrade"]
            case 10: ["Connection", "Keep-Alive"]
            case 14: ["HTTP2-Settings"]
            case 16: ["Proxy-Connection"]
            case 17: ["Transfer-Encoding"]
            case 19: ["Proxy-Authorization"]
            default: []
            }
        return names.contains { ASCII.equalIgnoringCase($0, text) }
    }
}

extension HTTPHeaders {
    /// The fields that a program may pass on with a request of its own, as a reverse proxy does.
    ///
    /// Left out is what belonged to the connection on which they came (RFC 9110 §7.6.1): `Connection` and the fields that
    /// it names, `Host`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`, `Trailer`, `Transfer-Encoding`,
    /// `Upgrade`, `HTTP2-Settings`, and `Content-Length`, which follows from the body. A request that has one of them is
    /// not sent.
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
