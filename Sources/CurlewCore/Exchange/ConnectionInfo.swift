// SPDX-License-Identifier: MIT

/// The connection that an exchange went over: which one it was, from where, and how it is secured.
///
/// Made once for a connection and shared by all exchanges on it, so it costs an exchange one reference. What a transport
/// cannot tell is nil.
public struct ConnectionInfo: Hashable, Sendable {
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

    /// The facts of one connection, for custom transports and tests.
    public init(id: UInt64? = nil, localAddress: String? = nil, tls: TLS? = nil) {
        storage = Storage(id, localAddress, tls)
    }

    /// Tells the connections of this process apart: two exchanges with the same number went over the same connection, one
    /// after the other or, over HTTP/2, at the same time. URLSession does not number connections: nil there, and
    /// `localAddress` with `ExchangeMetrics.remoteAddress` tells them apart while they are open.
    public var id: UInt64? { storage.id }
    /// Address and port at this end: `192.0.2.7:51344`, `[2001:db8::7]:51344`. Nil for a Unix domain socket.
    public var localAddress: String? { storage.localAddress }
    /// How the connection is secured; nil for one without TLS. Through a proxy it is the TLS with the server.
    public var tls: TLS? { storage.tls }

    /// What a TLS handshake agreed on.
    public struct TLS: Hashable, Sendable {
        /// The version of TLS; nil if it is none that Curlew knows.
        public var version: TLSVersion?
        /// The cipher suite by its registered name: `TLS_AES_128_GCM_SHA256`.
        public var cipherSuite: String?
        /// Whether the handshake resumed the session of an earlier connection (RFC 8446 §2.2), which spares a round trip or
        /// the work for certificates. Nil over URLSession, which does not tell.
        public var isResumed: Bool?
        /// The certificates that the server has presented, its own first: the first ten. Only for exchanges that are
        /// observed or ask for them (`RequestOptions.peerCertificates`), and empty over URLSession, which does not tell.
        ///
        /// The connection has been verified before, but their texts are those of the authority that made them.
        public var certificates: [PeerCertificate]

        /// What one handshake agreed on.
        public init(
            version: TLSVersion? = nil, cipherSuite: String? = nil, isResumed: Bool? = nil,
            certificates: [PeerCertificate] = []
        ) {
            self.version = version
            self.cipherSuite = cipherSuite
            self.isResumed = isResumed
            self.certificates = certificates
        }
    }

    /// True for the same facts, whether or not it is the same connection: compare `id` for that.
    public static func == (one: ConnectionInfo, other: ConnectionInfo) -> Bool {
        one.storage === other.storage
            || (one.id == other.id && one.localAddress == other.localAddress && one.tls == other.tls)
    }

    /// Hashes the facts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(localAddress)
    }
}

extension ConnectionInfo: CustomStringConvertible, CustomReflectable {
    /// One line: `connection 7 from 192.0.2.7:51344, TLS 1.3 with TLS_AES_128_GCM_SHA256, resumed`.
    public var description: String {
        var text = id.map { "connection \($0)" } ?? "a connection"
        if let localAddress { text += " from \(localAddress)" }
        if let tls { text += ", \(tls)" }
        return text
    }

    /// Shows the facts, to debuggers and `dump` too.
    public var customMirror: Mirror {
        Mirror(self, children: ["id": id as Any, "localAddress": localAddress as Any, "tls": tls as Any])
    }
}

extension ConnectionInfo.TLS: CustomStringConvertible {
    /// Version, cipher suite, and whether a session was resumed. No certificates.
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
