// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

extension TransportConfiguration {
    /// The TLS settings of a transport: trusted roots, client identity, pins and minimum version.
    ///
    /// Certificates are always verified. For a private authority, specify its certificate in `trustedRoots`.
    public struct TLS: Hashable, Sendable {
        /// A version of the TLS protocol, such as `.v12`.
        public typealias Version = ExchangeMetrics.Connection.TLS.Version

        /// The certificate authorities that a transport trusts for servers. If no certificate in the file or text can
        /// be read, calls that open a connection with TLS throw `.configuration`.
        public enum TrustedRoots: Hashable, Sendable {
            /// The authorities of the operating system.
            case system
            /// Only the authorities in this PEM file.
            case file(String)
            /// Only the authorities in this PEM text.
            case pem(Data)
        }

        /// The oldest TLS version that the transport accepts. Default TLS 1.2.
        public var minimumVersion: Version
        /// The certificate authorities that a transport trusts for servers. Default those of the system.
        public var trustedRoots: TrustedRoots
        /// The client certificate, with its key, for servers that request one. Default nil.
        public var identity: TransportConfiguration.TLS.ClientIdentity?
        /// The public keys that certain servers must have. Default none. Read the warning at
        /// `TransportConfiguration.TLS.PinSet` first.
        public var pins: [TransportConfiguration.TLS.PinSet]

        /// Whether the environment variable `SSLKEYLOGFILE` takes effect: it names a file with the secrets of TLS
        /// connections, with which tools such as Wireshark decrypt recorded traffic. Default false: nothing is written.
        /// Where that cannot be ensured (URLSession on Linux, some libcurls) and the variable is set, calls over TLS
        /// throw `.configuration`.
        ///
        /// libcurl reads the variable when the process first uses it, and creates the file with default permissions, so
        /// other users of the machine may read it. It appends to an existing file: create one with mode 0600 first.
        public var obeysKeyLogFile = false

        /// Creates a configuration. Omitted parameters have the defaults.
        public init(
            minimumVersion: Version = .v12, trustedRoots: TrustedRoots = .system,
            identity: TransportConfiguration.TLS.ClientIdentity? = nil,
            pins: [TransportConfiguration.TLS.PinSet] = []
        ) {
            self.minimumVersion = minimumVersion
            self.trustedRoots = trustedRoots
            self.identity = identity
            self.pins = pins
        }

        var problems: [String] {
            (identity?.problems ?? []) + pins.flatMap(\.problems)
        }
    }
}

extension TransportConfiguration.TLS {
    /// A certificate and its private key, which authenticate the client (mutual TLS). On Apple platforms, URLSession
    /// supports only PKCS#12; on Linux, it supports no identity.
    ///
    /// The certificate is sent to servers that request one and that `hosts` includes. Files are read for each new
    /// connection, so renewed certificates take effect without a restart. The call fails with `.configuration` if the
    /// identity cannot be read or decrypted. If a server rejects the certificate, or requires one and receives none,
    /// the call fails with `.secureConnectionFailed(.clientCertificate)`, or the server responds with an error status
    /// (nginx: 400).
    public struct ClientIdentity: Hashable, Sendable {
        package enum Source: Hashable, Sendable {
            case pem(certificate: Data, key: Data)
            case pemFiles(certificate: String, key: String)
            case pkcs12(Data)
            case pkcs12File(String)
        }

        package let source: Source
        package let passphrase: String?
        /// The hosts that may receive the certificate, exact or with `*.` for one label. Empty means every server that
        /// requests it.
        public var hosts: [String]

        /// Creates an identity from PEM text: the certificate, followed by intermediate certificates, and the key.
        /// `passphrase` decrypts the key; nil if the key is not encrypted.
        public static func pem(
            certificate: Data, key: Data, passphrase: String? = nil, hosts: [String] = []
        ) -> ClientIdentity {
            ClientIdentity(source: .pem(certificate: certificate, key: key), passphrase: passphrase, hosts: hosts)
        }

        /// Creates an identity from the paths of PEM files. Both paths may name the same file.
        public static func pemFiles(
            certificate: String, key: String, passphrase: String? = nil, hosts: [String] = []
        ) -> ClientIdentity {
            ClientIdentity(source: .pemFiles(certificate: certificate, key: key), passphrase: passphrase, hosts: hosts)
        }

        /// Creates an identity from a PKCS#12 archive (RFC 7292), `.p12` or `.pfx`.
        public static func pkcs12(_ archive: Data, passphrase: String, hosts: [String] = []) -> ClientIdentity {
            ClientIdentity(source: .pkcs12(archive), passphrase: passphrase, hosts: hosts)
        }

        /// Creates an identity from the path of a PKCS#12 file (`.p12` or `.pfx`).
        public static func pkcs12File(_ path: String, passphrase: String, hosts: [String] = []) -> ClientIdentity {
            ClientIdentity(source: .pkcs12File(path), passphrase: passphrase, hosts: hosts)
        }

        /// Returns whether `host`, in lower case, may receive the certificate.
        package func isMeant(for host: String) -> Bool {
            hosts.isEmpty || hosts.contains { HostPattern($0)?.matches(host) ?? false }
        }

        var problems: [String] {
            hosts.filter { HostPattern($0) == nil }.map {
                "TransportConfiguration.TLS.ClientIdentity.hosts: \"\($0)\" is not a host. Write api.example.com or *.example.com."
            }
        }
    }
}

extension TransportConfiguration.TLS.ClientIdentity: MirroredByDescription {
    /// The type and the source: `PEM data`, `PKCS#12 data` or the path of the certificate. Contains no secrets.
    public var description: String {
        let origin =
            switch source {
            case .pem: "PEM data"
            case .pemFiles(let certificate, _): certificate
            case .pkcs12: "PKCS#12 data"
            case .pkcs12File(let path): path
            }
        return "TransportConfiguration.TLS.ClientIdentity(\(origin))"
    }
}
