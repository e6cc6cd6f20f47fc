// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// Measurements of an exchange: time per phase, bytes on the wire, and connection reuse.
///
/// Each time is the duration of one phase, except `total`. Phases that did not occur are zero, such as the lookup for a
/// reused connection. For an exchange that failed, the last phase lasted until the failure. Values that a transport
/// cannot determine are nil.
public struct ExchangeMetrics: Hashable, Sendable {
    /// The time before the exchange began, spent in the queues of rate limits, concurrency limits and the transport.
    public var queue: Duration?
    /// The time to resolve the host name.
    public var nameLookup: Duration?
    /// The time to establish the TCP connection.
    public var connect: Duration?
    /// The time of the TLS handshake.
    public var secureConnect: Duration?
    /// The time from when the request was ready to send until the first byte of the response or, if none arrived, the
    /// end of the exchange.
    public var firstByte: Duration?
    /// The time from the first to the last byte of the response.
    public var transfer: Duration?
    /// The time from the start of the wait in queues until the end of the exchange: `queue` and all phases.
    public var total: Duration?
    /// The number of bytes of the request head and body, as sent.
    public var bytesSent: Int64?
    /// The number of bytes of the response head and body, as received, before decoding.
    public var bytesReceived: Int64?
    /// Whether the exchange used an existing connection.
    public var reusedConnection: Bool?
    /// The number of connections that the transport opened for this exchange; more than one when it had to send the
    /// request again.
    public var connectionsOpened: Int?
    /// The HTTP version of the exchange. URLSession on Apple platforms reports it only when the exchange has ended: for
    /// a streamed body, `HTTPResponse.version` is therefore 1.1, and the metrics of `.measured` have the actual
    /// version. URLSession on Linux never reports it.
    public var version: HTTPVersion?
    /// The IP address and port of the server or proxy at the other end of the connection, such as `192.0.2.1:443`. Nil
    /// for a Unix domain socket.
    public var remoteAddress: String?
    /// The connection that the exchange used: its number, its local address, and its TLS parameters. Nil if there was
    /// no connection. URLSession on Apple platforms reports it only in the metrics of `.measured`, and URLSession on
    /// Linux never reports it.
    public var connection: ExchangeMetrics.Connection?

    /// Creates empty metrics.
    public init() {}

    /// Adds the time that the request waited in queues of the pipeline, which a transport does not measure.
    mutating func add(queued: Duration) {
        queue = (queue ?? .zero) + queued
        total = total.map { $0 + queued }
    }
}

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
            /// The registered name of the cipher suite, such as `TLS_AES_128_GCM_SHA256`; nil if it is unknown.
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

extension ExchangeMetrics.Connection.TLS {
    /// A version of TLS. Older versions are insecure and not offered (RFC 8996).
    public enum Version: Hashable, Sendable {
        /// TLS 1.2 (RFC 5246).
        case v12
        /// TLS 1.3 (RFC 8446).
        case v13
    }
}

extension ExchangeMetrics.Connection {
    /// The content of a certificate that a server presented.
    ///
    /// It helps to find the cause of `.secureConnectionFailed`. Do not trust the content: it may not have been
    /// verified. All strings are limited in length, and control characters and bidirectional formatting characters in
    /// them are escaped.
    public struct PeerCertificate: Hashable, Sendable {
        /// The subject, in the form of RFC 4514: `CN=api.example.com,O=Example`. At most 200 Unicode scalars before
        /// escaping. Empty in certificates that only have `names`.
        public let subject: String
        /// The issuer, in the same form and with the same limit as `subject`.
        public let issuer: String
        /// The first ten DNS names and IP addresses of the subject (RFC 5280 §4.2.1.6), at most 100 Unicode scalars
        /// each.
        public let names: [String]
        /// The first moment of validity; nil if it is not in the form that RFC 5280 §4.1.2.5 prescribes.
        public let notBefore: Date?
        /// The last moment of validity; nil if it is not in the form that RFC 5280 §4.1.2.5 prescribes.
        public let notAfter: Date?
        /// The SHA-256 digest of the public key, in the form of `TransportConfiguration.TLS.PinSet.keys`: `sha256//`,
        /// then Base64.
        public let pin: String

        /// Parses a certificate in PEM or DER form. Returns nil if the bytes are not a certificate, or if the
        /// certificate has more than 64 KiB in DER form.
        init?(_ certificate: Data) {
            guard certificate.count <= Self.maximumSize * 2 else { return nil }
            let bytes = CertificateKey.der(fromPEM: certificate) ?? certificate
            guard bytes.count <= Self.maximumSize, let fields = CertificateFields(bytes) else { return nil }
            subject = CertificateName.text(ofName: fields.subject, limit: 200)
            issuer = CertificateName.text(ofName: fields.issuer, limit: 200)
            names = CertificateName.subjectNames(in: fields, count: 10, limit: 100)
            var period = fields.validity.values
            notBefore = period.next().flatMap(CertificateName.date)
            notAfter = period.next().flatMap(CertificateName.date)
            pin = CertificateKey.pin(ofKey: fields.publicKey)
        }

        /// The maximum number of certificates that are read from a chain.
        package static let maximumCount = 10
        /// The maximum size of a certificate in DER form, in bytes.
        package static let maximumSize = 64 << 10

        /// Parses the first ten certificates of a chain, which begins with the server's own certificate. Certificates
        /// that cannot be parsed are omitted.
        package static func list(_ chain: some Sequence<Data>) -> [PeerCertificate] {
            chain.prefix(maximumCount).compactMap(PeerCertificate.init)
        }
    }
}

extension ExchangeMetrics.Connection.PeerCertificate: CustomStringConvertible {
    /// One line: the subject, the names, the issuer, the period of validity and the pin.
    public var description: String {
        func shown(_ date: Date?) -> String { date?.formatted(.iso8601) ?? "an unknown time" }
        let owner = subject.isEmpty ? "no subject" : subject
        let purpose = names.isEmpty ? "" : " for \(names.joined(separator: ", "))"
        let signer = issuer.isEmpty ? "nobody" : issuer == subject ? "itself" : issuer
        return "\(owner)\(purpose); issued by \(signer); valid from \(shown(notBefore)) to \(shown(notAfter)); \(pin)"
    }
}
