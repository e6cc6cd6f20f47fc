// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension TransportConfiguration {
    /// The TLS settings of a transport: trusted roots, client identity, pins and minimum version.
    ///
    /// Certificates are always verified; verification cannot be disabled. For a private authority, specify its
    /// certificate in `trustedRoots`.
    public struct TLS: Hashable, Sendable {
        /// A version of the TLS protocol, such as `.v12`.
        public typealias Version = ExchangeMetrics.Connection.TLS.Version

        /// The certificate authorities that a transport trusts for servers.
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

        /// Whether the environment variable `SSLKEYLOGFILE` takes effect. The key log file allows recorded traffic to
        /// be decrypted, for debugging with tools such as Wireshark. Default false: nothing is written, whatever the
        /// environment contains.
        ///
        /// libcurl reads the variable when a process creates its first transport, and creates the file with default
        /// permissions, so other users of the machine may read it. It appends to an existing file: create one with mode
        /// 0600 first.
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
