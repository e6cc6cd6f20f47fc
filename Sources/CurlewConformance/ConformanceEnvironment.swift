// SPDX-License-Identifier: MIT

/// The servers other than `MockServer` that cases use, started by the runner of the suite.
///
/// The environment is `Codable`, so that a child process can use the servers of its parent.
public struct ConformanceEnvironment: Hashable, Sendable, Codable {
    /// A part of the environment that a case may need. Each is the address of a server, without a trailing slash, or a
    /// path.
    ///
    /// Unless specified otherwise, the TLS origins are named `localhost`, have a certificate of ``authority``, and
    /// negotiate HTTP/2. They respond to `/empty` with 204; to `/body.bin` with 3 000 000 bytes of
    /// `MockResponse.pattern`; to `/connection` with a number of the connection, the protocol and the request's
    /// X-Value, separated by spaces; and they store PUT requests beneath `/upload/`.
    public enum Part: String, Hashable, Sendable, Codable, CaseIterable {
        /// An origin with a valid certificate, which is also valid for 127.0.0.1.
        case secure
        /// An origin whose certificate has expired.
        case expired
        /// An origin whose certificate is not yet valid.
        case notYetValid
        /// An origin with the certificate of another host.
        case wrongHost
        /// An origin with a self-signed certificate.
        case selfSigned
        /// An origin whose certificate was issued by an intermediate authority of ours, and that does not send the
        /// intermediate certificate.
        case missingIntermediate
        /// An origin that responds with "SUCCESS" only to clients with a certificate of the authority, and with 400 to
        /// others.
        case mutual
        /// An origin over HTTP/1.1 that ends the handshake of clients without such a certificate.
        case demanding
        /// A scripted HTTP/2 server at 127.0.0.1: a part of the path determines what happens to the first request for
        /// it; later requests receive their number.
        case hostileHTTP2
        /// A tunnelling proxy, as a URL without credentials; it requires `user` and `pass word`.
        case httpProxy
        /// A SOCKS 5 proxy with the same credentials.
        case socksProxy
        /// The path of a Unix domain socket whose server responds to `/host` with the request's Host.
        case unixSocket
        /// The path of the authority's certificate.
        case authority
        /// The path of a client certificate of the authority; its key is next to it, ending in `.key` instead of
        /// `.pem`.
        case client
        /// The path of a client certificate that no trusted authority signed, with its key beside it as above.
        case stranger
        /// The path of the certificate of `secure`.
        case certificate
    }

    /// The available parts.
    public var addresses: [Part: String]

    /// Creates an environment with these parts. Cases that need others fail and name them.
    public init(_ addresses: [Part: String] = [:]) {
        self.addresses = addresses
    }
}
