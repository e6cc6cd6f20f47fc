// SPDX-License-Identifier: MIT

/// The ways into the server: what is spoken, and whether a connection serves more than one request.
enum Door: String, CaseIterable, Codable {
    case plain, tls, h2
    /// The server closes the connection after each response.
    case plainOnce, tlsOnce
    /// The same, and the server gives tickets: a client that keeps them shortens the next handshake.
    case tlsResumed

    var isSecure: Bool { self != .plain && self != .plainOnce }

    var title: String {
        switch self {
        case .plain: "HTTP/1.1"
        case .tls: "HTTP/1.1 over TLS"
        case .h2: "HTTP/2 over TLS"
        case .plainOnce: "new TCP connection each"
        case .tlsOnce: "new TLS connection each, full handshakes"
        case .tlsResumed: "new TLS connection each, resumption offered"
        }
    }

    /// The server block of nginx.
    func block(port: UInt16, sink: UInt16, files: String, certificates: Certificates) -> String {
        let kind = isSecure ? " ssl" + (self == .h2 ? " http2" : "") : ""
        let secure = "ssl_certificate \(certificates.chain); ssl_certificate_key \(certificates.key);"
        let once: String? =
            switch self {
            case .plain, .tls, .h2: nil
            case .plainOnce: "keepalive_timeout 0;"
            case .tlsOnce: "keepalive_timeout 0; ssl_session_cache off; ssl_session_tickets off;"
            case .tlsResumed: "keepalive_timeout 0; ssl_session_cache shared:resumed:10m; ssl_session_tickets on;"
            }
        return """
            server {
              listen 127.0.0.1:\(port)\(kind) backlog=4096; root \(files);
              \(isSecure ? secure : "") \(once ?? "")
              location = /sink {
                proxy_pass http://127.0.0.1:\(sink); proxy_http_version 1.1; proxy_request_buffering off;
                client_max_body_size 0; client_body_buffer_size 1m;
              }
            }
            """
    }
}
