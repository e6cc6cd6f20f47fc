// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A certificate and its private key, with which the client proves who it is (mutual TLS).
///
/// Servers that ask for a certificate get it; `hosts` says which ones may. Files are read for each new connection, so
/// that renewed ones are taken up without a restart. What cannot be read or decrypted ends the call with
/// `.configuration`; a server that refuses the certificate, or wants one and gets none, ends it with
/// `.secureConnectionFailed(.clientCertificate)` or with a status of its own (nginx: 400).
///
/// Descriptions show neither key nor passphrase.
public struct ClientIdentity: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case pem(certificate: Data, key: Data)
        case pemFiles(certificate: String, key: String)
        case pkcs12(Data)
        case pkcs12File(String)
    }

    package let source: Source
    package let passphrase: String?
    /// Hosts that get the certificate, exact or with `*.` for one label. Empty means every server that asks.
    public var hosts: [String]

    /// PEM text: the certificate followed by intermediate ones, and its key, with the passphrase if it has one.
    public static func pem(
        certificate: Data, key: Data, passphrase: String? = nil, hosts: [String] = []
    ) -> ClientIdentity {
        ClientIdentity(source: .pem(certificate: certificate, key: key), passphrase: passphrase, hosts: hosts)
    }

    /// The same in files. Both may be one file.
    public static func pemFiles(
        certificate: String, key: String, passphrase: String? = nil, hosts: [String] = []
    ) -> ClientIdentity {
        ClientIdentity(source: .pemFiles(certificate: certificate, key: key), passphrase: passphrase, hosts: hosts)
    }

    /// The bytes of a PKCS#12 archive (RFC 7292), `.p12` or `.pfx`.
    public static func pkcs12(_ archive: Data, passphrase: String, hosts: [String] = []) -> ClientIdentity {
        ClientIdentity(source: .pkcs12(archive), passphrase: passphrase, hosts: hosts)
    }

    /// The same in a file.
    public static func pkcs12File(_ path: String, passphrase: String, hosts: [String] = []) -> ClientIdentity {
        ClientIdentity(source: .pkcs12File(path), passphrase: passphrase, hosts: hosts)
    }

    /// Whether `host` may see the certificate.
    package func isMeant(for host: String) -> Bool {
        hosts.isEmpty || hosts.contains { HostPattern($0)?.matches(host) ?? false }
    }

    var problems: [String] {
        hosts.filter { HostPattern($0) == nil }.map {
            "ClientIdentity.hosts: \"\($0)\" is no host. Write api.example.com or *.example.com."
        }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Where it comes from, without anything secret.
    public var description: String {
        let origin =
            switch source {
            case .pem: "PEM data"
            case .pemFiles(let certificate, _): certificate
            case .pkcs12: "PKCS#12 data"
            case .pkcs12File(let path): path
            }
        return "ClientIdentity(\(origin))"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror {
        Mirror(self, children: ["identity": description])
    }
}
