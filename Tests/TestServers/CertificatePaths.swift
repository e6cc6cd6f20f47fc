// SPDX-License-Identifier: MIT

package import CurlewCore
import Foundation

/// Authorities, what they have signed, and the paths that come of it: made by `openssl`, one after the other, in a
/// folder that goes with this object.
///
/// A certificate has the name of its files; several may be for the same key, as with cross-signed authorities.
package final class CertificatePaths: Sendable {
    private let folder: TemporaryFolder

    package init() throws {
        folder = try TemporaryFolder()
        _ = try folder.file("openssl.cnf", Certificates.configuration)
        _ = try folder.file("index.txt", "")
        _ = try folder.file("serial.txt", "1000\n")
    }

    /// An authority that has signed itself. Its subject is its name.
    package func makeRoot(_ name: String) throws {
        try makeKey(name)
        try openssl(
            "req -x509 -key \(name).key -out \(name).pem -config openssl.cnf -extensions authority -subj /CN=\(name)",
            "-days 3650")
    }

    /// An authority signed by another one. With `key`, a further certificate of that authority.
    package func makeAuthority(_ name: String, by issuer: String, key: String? = nil) throws {
        try makeKey(key ?? name)
        try openssl(
            "req -new -key \(key ?? name).key -out \(name).csr -config openssl.cnf -subj /CN=\(key ?? name)")
        try sign(name, by: issuer, "-extensions authority", end: Certificates.end)
    }

    /// A server's certificate. Its subject is its name.
    package func makeServer(
        _ name: String, by issuer: String, names: String = "DNS:localhost,IP:127.0.0.1", end: String = Certificates.end
    ) throws {
        try makeKey(name)
        try openssl(
            "req -new -key \(name).key -out \(name).csr -config openssl.cnf -subj /CN=\(name)",
            "-addext subjectAltName=\(names) -addext extendedKeyUsage=serverAuth")
        try sign(name, by: issuer, "", end: end)
    }

    /// A certificate that has signed itself, with any text of at most 64 characters as its name.
    package func makeStranger(_ name: String, commonName: String) throws {
        try makeKey(name)
        let arguments = "req -x509 -key \(name).key -out \(name).pem -config openssl.cnf -days 3650 -utf8 -subj"
        try Program.run(
            Program.path("openssl"), arguments.split(separator: " ").map(String.init) + ["/CN=\(commonName)"],
            in: folder.path)
    }

    /// The path of a file with these certificates, in this order.
    package func file(_ names: String...) throws -> String {
        try folder.file("chain-\(UUID().uuidString).pem", try pem(names))
    }

    /// Trusts these certificates and no other.
    package func roots(_ names: String...) throws -> TransportConfiguration.TLS.TrustedRoots {
        .pem(try pem(names))
    }

    package func pin(_ name: String) throws -> String {
        guard let pin = TransportConfiguration.TLS.PinSet.key(ofCertificate: try pem([name])) else {
            throw Program.Failure(description: "\(name) has no key.")
        }
        return pin
    }

    package func key(_ name: String) -> String { "\(folder.path)/\(name).key" }

    private func pem(_ names: [String]) throws -> Data {
        try names.reduce(into: Data()) { text, name in
            text += try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name).pem"))
        }
    }

    private func makeKey(_ name: String) throws {
        guard !FileManager.default.fileExists(atPath: key(name)) else { return }
        try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out \(name).key")
    }

    private func sign(_ name: String, by issuer: String, _ extensions: String, end: String) throws {
        try openssl(
            "ca -batch -notext -config openssl.cnf \(extensions) -in \(name).csr -out \(name).pem",
            "-cert \(issuer).pem -keyfile \(issuer).key -startdate \(Certificates.start) -enddate \(end)")
    }

    private func openssl(_ arguments: String...) throws {
        try Program.run(
            Program.path("openssl"), arguments.joined(separator: " ").split(separator: " ").map(String.init),
            in: folder.path)
    }
}
