// SPDX-License-Identifier: MIT

extension HTTPField.Name {
    /// Whether a field with this name may be sent in trailers. False for fields about framing, routing, request
    /// modifiers, authentication, response control and the processing of the content (RFC 9110 §6.5.1).
    package var mayTrail: Bool {
        if belongsToConnection { return false }
        let name = text.lowercased()
        return !Self.headOnly.contains(name) && !name.utf8.starts(with: "if-".utf8)
            && !name.utf8.starts(with: "accept".utf8) && !name.utf8.starts(with: "proxy-".utf8)
    }

    private static let headOnly: Set<String> = [
        "age", "authentication-info", "authorization", "cache-control", "connection", "content-encoding",
        "content-language", "content-length", "content-location", "content-range", "content-type", "cookie", "date",
        "expect", "expires", "forwarded", "host", "idempotency-key", "keep-alive", "location", "max-forwards", "origin",
        "pragma", "prefer", "priority", "range", "referer", "retry-after", "set-cookie", "te", "trailer",
        "transfer-encoding", "upgrade", "user-agent", "vary", "via", "warning", "www-authenticate",
    ]
}
