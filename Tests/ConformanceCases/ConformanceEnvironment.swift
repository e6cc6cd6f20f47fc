// SPDX-License-Identifier: MIT

/// The servers and files that cases use in addition to `MockServer`. The runner of the suite provides them.
///
/// The environment is `Codable`, so that a child process can use the servers of its parent.
public struct ConformanceEnvironment: Hashable, Sendable, Codable {
    /// A part of the environment that a case may need. Its value is the URL of a server without a trailing slash, or
    /// the path of a file or a socket.
    ///
    /// Unless specified otherwise, the TLS origins have the host `localhost` and a certificate that ``authority``
    /// issued, negotiate HTTP/2, and respond as follows:
    ///
    /// - `/empty`: 204
    /// - `/body.bin`: 3,000,000 bytes of `MockResponse.pattern`
    /// - `/connection`: the number of the connection, the protocol, and the request's X-Value, separated by spaces
    /// - PUT requests below `/upload/`: stores the body, for later GET requests
    public enum Part: String, Hashable, Sendable, Codable, CaseIterable {
        /// An origin with a valid certificate. The certificate is also valid for 127.0.0.1.
        case secure
        /// An origin whose certificate has expired.
        case expired
        /// An origin whose certificate is not yet valid.
        case notYetValid
        /// An origin with the certificate of another host.
        case wrongHost
        /// An origin with a self-signed certificate.
        case selfSigned
        /// An origin whose certificate was issued by an intermediate authority below ``authority``. The origin does not
        /// send the intermediate certificate.
        case missingIntermediate
        /// An origin that responds with "SUCCESS" to clients with a certificate from ``authority``, and with 400 to all
        /// others.
        case mutual
        /// An origin that uses HTTP/1.1, and ends the handshake if the client has no certificate from ``authority``.
        case demanding
        /// A scripted HTTP/2 server at 127.0.0.1. A part of the path determines what happens to the first request for
        /// that path; the response to each later request is the number of that request.
        case hostileHTTP2
        /// A tunnelling HTTP proxy, as a URL without credentials. The proxy requires the user `user` and the password
        /// `pass word`.
        case httpProxy
        /// A SOCKS 5 proxy, as a URL without credentials. It requires the same credentials as ``httpProxy``.
        case socksProxy
        /// The path of a Unix domain socket whose server responds to `/host` with the value of the request's Host
        /// field.
        case unixSocket
        /// The path of the authority's certificate. The authority issued the certificates of the TLS origins.
        case authority
        /// The path of a client certificate from ``authority``. Its key has the same path, with `.key` instead of
        /// `.pem`.
        case client
        /// The path of a client certificate that no trusted authority signed. Its key has the same path, with `.key`
        /// instead of `.pem`.
        case stranger
        /// The path of the certificate of the origin ``secure``.
        case certificate
    }

    /// The available parts, with their URLs or paths.
    public var addresses: [Part: String]

    /// Creates an environment with these parts. If a case needs another part, it fails, and its error names that part.
    public init(_ addresses: [Part: String] = [:]) {
        self.addresses = addresses
    }
}
