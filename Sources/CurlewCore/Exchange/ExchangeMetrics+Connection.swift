// SPDX-License-Identifier: MIT

extension ExchangeMetrics {
    /// The connection that an exchange used: its identifier, its local address and its TLS parameters.
    ///
    /// A value is created once per connection and shared by all exchanges on it, so each exchange holds one reference.
    /// Properties that a transport cannot determine are nil.
    public struct Connection: Hashable, Sendable {
        private final class Storage: Sendable {
            let id: UInt64?
            let localAddress: String?
            let tls: TLS?

            init(_ id: UInt64?, _ localAddress: String?, _ tls: TLS?) {
                self.id = id
                self.localAddress = localAddress
                self.tls = tls
            }
        }

        private let storage: Storage

        /// Creates a description of a connection, for custom transports and tests.
        public init(id: UInt64? = nil, localAddress: String? = nil, tls: TLS? = nil) {
            storage = Storage(id, localAddress, tls)
        }

        /// The number of the connection, unique in this process. Exchanges with the same number used the same
        /// connection, one after the other or, over HTTP/2, concurrently. Nil over URLSession, which does not number
        /// connections: there, `localAddress` together with `ExchangeMetrics.remoteAddress` identifies a connection
        /// while it is open.
        public var id: UInt64? { storage.id }
        /// The local address and port, such as `192.0.2.7:51344` or `[2001:db8::7]:51344`. Nil for a Unix domain
        /// socket.
        public var localAddress: String? { storage.localAddress }
        /// The TLS parameters; nil for a connection without TLS. Through a proxy, the parameters of the TLS session
        /// with the server.
        public var tls: TLS? { storage.tls }

        /// The parameters of a TLS session, as the handshake determined them.
        public struct TLS: Hashable, Sendable {
            /// The TLS version; nil if Curlew does not know it.
            public var version: ExchangeMetrics.Connection.TLS.Version?
            /// The registered name of the cipher suite, such as `TLS_AES_128_GCM_SHA256`.
            public var cipherSuite: String?
            /// Whether the handshake resumed the session of an earlier connection (RFC 8446 §2.2), which saves a round
            /// trip or the processing of certificates. Nil over URLSession, which does not report it.
            public var isResumed: Bool?
            /// The certificates that the server presented, its own certificate first, at most ten. Recorded only for
            /// exchanges that are observed or request them (`RequestOptions.peerCertificates`). Empty over URLSession,
            /// which does not report them.
            ///
            /// The server has already been verified, but do not trust the text in a certificate: its issuer can write
            /// anything there.
            public var certificates: [ExchangeMetrics.Connection.PeerCertificate]

            /// Creates the parameters of a TLS session, for custom transports and tests.
            public init(
                version: ExchangeMetrics.Connection.TLS.Version? = nil, cipherSuite: String? = nil,
                isResumed: Bool? = nil,
                certificates: [ExchangeMetrics.Connection.PeerCertificate] = []
            ) {
                self.version = version
                self.cipherSuite = cipherSuite
                self.isResumed = isResumed
                self.certificates = certificates
            }
        }

        /// Returns whether all properties are equal. To find out whether two exchanges used the same connection,
        /// compare `id`.
        public static func == (one: ExchangeMetrics.Connection, other: ExchangeMetrics.Connection) -> Bool {
            one.storage === other.storage
                || (one.id == other.id && one.localAddress == other.localAddress && one.tls == other.tls)
        }

        /// Hashes `id` and `localAddress`.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(id)
            hasher.combine(localAddress)
        }
    }
}

extension ExchangeMetrics.Connection: CustomStringConvertible, CustomReflectable {
    /// One line: `connection 7 from 192.0.2.7:51344, TLS 1.3 with TLS_AES_128_GCM_SHA256, resumed`.
    public var description: String {
        var text = id.map { "connection \($0)" } ?? "a connection"
        if let localAddress { text += " from \(localAddress)" }
        if let tls { text += ", \(tls)" }
        return text
    }

    /// A mirror that shows `id`, `localAddress` and `tls`.
    public var customMirror: Mirror {
        Mirror(self, children: ["id": id as Any, "localAddress": localAddress as Any, "tls": tls as Any])
    }
}

extension ExchangeMetrics.Connection.TLS: CustomStringConvertible {
    /// The version, the cipher suite, and whether a session was resumed. Does not include the certificates.
    public var description: String {
        let name =
            switch version {
            case .v12: "TLS 1.2"
            case .v13: "TLS 1.3"
            case nil: "TLS"
            }
        return name + (cipherSuite.map { " with \($0)" } ?? "") + (isResumed == true ? ", resumed" : "")
    }
}
