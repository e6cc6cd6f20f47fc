// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Whom a transport trusts, as whom it shows itself, and from which version of TLS on.
///
/// Certificates are always checked: there is no switch against it. For a private authority name its certificate in
/// `trustedRoots`.
public struct TLSConfiguration: Hashable, Sendable {
    /// A version of TLS.
    public typealias Version = TLSVersion

    /// Certificate authorities that vouch for servers.
    public enum TrustedRoots: Hashable, Sendable {
        /// Those of the operating system.
        case system
        /// Only those in this PEM file.
        case file(String)
        /// Only those in this PEM text.
        case pem(Data)
    }

    /// The oldest version that is accepted. Default TLS 1.2.
    public var minimumVersion: Version
    /// Who vouches for servers. Default the system's authorities.
    public var trustedRoots: TrustedRoots
    /// The certificate for servers that ask for one. Default none.
    public var identity: ClientIdentity?
    /// Keys that certain servers must have. Default none. Read the warning at `PinSet` first.
    public var pins: [PinSet]

    /// Whether the variable `SSLKEYLOGFILE` is obeyed: with the file that it names, whoever records the traffic reads
    /// all of it. For debugging with tools such as Wireshark. Default false: nothing is written, whatever the
    /// environment says.
    ///
    /// It is libcurl that looks at the variable, when a process makes its first transport, and that makes the file,
    /// with the permissions of any new file: others on the machine may read it. It appends to a file that is there, so
    /// make one with mode 0600 first.
    public var obeysKeyLogFile = false

    /// A configuration with the defaults where nothing is said.
    public init(
        minimumVersion: Version = .v12, trustedRoots: TrustedRoots = .system, identity: ClientIdentity? = nil,
        pins: [PinSet] = []
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
