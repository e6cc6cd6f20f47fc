// SPDX-License-Identifier: MIT

/// The servers beside ``MockServer`` that cases talk to, started by whoever runs them.
///
/// It can be encoded, so that a child process may be given the servers of its parent.
public struct ConformanceEnvironment: Hashable, Sendable, Codable {
    /// What a case may need. Each is the address of a server, without a slash at its end, or a path.
    ///
    /// The origins over TLS are named `localhost`, have a certificate of ``authority`` unless said otherwise, and negotiate
    /// HTTP/2. They answer `/empty` with 204; `/body.bin` with 3 000 000 bytes of `MockResponse.pattern`; `/connection`
    /// with a number of the connection, the protocol and the request's X-Value, separated by spaces; and they keep what
    /// is PUT beneath `/upload/`.
    public enum Part: String, Hashable, Sendable, Codable, CaseIterable {
        /// An origin with a good certificate, which is for 127.0.0.1, too.
        case secure
        /// One whose certificate's time is over.
        case expired
        /// One whose certificate's time has not begun.
        case notYetValid
        /// One with the certificate of another host.
        case wrongHost
        /// One with a certificate that nobody else signed.
        case selfSigned
        /// One whose certificate was signed by an authority that ours signed, and that does not show the latter's
        /// signature.
        case missingIntermediate
        /// One that answers only clients with a certificate of the authority, with "SUCCESS", and others with 400.
        case mutual
        /// One that ends the handshake of clients without such a certificate, over HTTP/1.1.
        case demanding
        /// A scripted HTTP/2 server at 127.0.0.1: a part of a path says what happens to the first request for it; later
        /// requests are answered with their number.
        case hostileHTTP2
        /// A proxy for tunnels, as a URL without credentials; it wants `user` and `pass word`.
        case httpProxy
        /// A SOCKS 5 proxy, likewise.
        case socksProxy
        /// The path of a Unix domain socket, whose server answers `/host` with the request's Host.
        case unixSocket
        /// The path of the authority's certificate.
        case authority
        /// The path of a client's certificate of the authority; its key is beside it, ending in `.key` instead of `.pem`.
        case client
        /// The path of a client's certificate of nobody; its key is beside it likewise.
        case stranger
        /// The path of the certificate of `secure`.
        case certificate
    }

    /// What there is.
    public var addresses: [Part: String]

    /// An environment with these parts. Cases that need others fail and name them.
    public init(_ addresses: [Part: String] = [:]) {
        self.addresses = addresses
    }
}
