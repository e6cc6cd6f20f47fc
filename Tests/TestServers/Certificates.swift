// SPDX-License-Identifier: MIT

import Foundation

/// An authority of our own and what it has signed, itself or through an intermediate one, made by `openssl` in a
/// folder.
package struct Certificates {
    /// Kinds of server certificate, all with the same key.
    package enum Kind: String, CaseIterable, Sendable {
        case valid, expired, notYetValid, wrongHost, selfSigned, missingIntermediate

        fileprivate var names: String {
            self == .wrongHost ? "DNS:other.example" : "DNS:localhost,IP:127.0.0.1"
        }

        fileprivate var period: (start: String, end: String) {
            switch self {
            case .expired: (Certificates.start, "20190201000000Z")
            case .notYetValid: ("20900101000000Z", "20910101000000Z")
            default: (Certificates.start, Certificates.end)
            }
        }
    }

    package let folder: String
    package var authority: String { folder + "/ca.pem" }
    package var key: String { folder + "/server.key" }

    /// A client's certificate of our authority: `.pem`, `.key`, `-locked.key` and `.p12`, the latter two locked.
    package var client: String { folder + "/client" }
    /// A client's certificate of no user, likewise, but without locked forms.
    package var stranger: String { folder + "/stranger" }
    package static let passphrase = "open sesame"

    /// Apple's systems take a server's certificate for 825 days and no longer, if it begins after June 2019.
    static let start = "20190101000000Z"
    static let end = "20910101000000Z"

    package func certificate(_ kind: Kind) -> String { "\(folder)/\(kind).pem" }

    package init(in folder: String) throws {
        self.folder = folder
        try Data(Self.configuration.utf8).write(to: URL(fileURLWithPath: folder + "/openssl.cnf"))
        try Data().write(to: URL(fileURLWithPath: folder + "/index.txt"))
        try Data("1000\n".utf8).write(to: URL(fileURLWithPath: folder + "/serial.txt"))
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem",
            "-config openssl.cnf -extensions authority -subj /CN=Authority -days 3650")
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout between.key -out between.csr",
            "-config openssl.cnf -subj /CN=Between")
        try openssl(
            "ca -batch -notext -config openssl.cnf -extensions authority -in between.csr -out between.pem",
            "-cert ca.pem -keyfile ca.key -startdate \(Self.start) -enddate \(Self.end)")
        try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out server.key")
        for kind in Kind.allCases {
            try openssl(
                "req -new -key server.key -out \(kind).csr -config openssl.cnf -subj /CN=\(kind)",
                "-addext subjectAltName=\(kind.names) -addext extendedKeyUsage=serverAuth")
            let (issuer, signer) =
                switch kind {
                case .selfSigned: ("-selfsign", "server.key")
                case .missingIntermediate: ("-cert between.pem", "between.key")
                default: ("-cert ca.pem", "ca.key")
                }
            try openssl(
                "ca -batch -notext -config openssl.cnf -in \(kind).csr -out \(kind).pem",
                "\(issuer) -keyfile \(signer) -startdate \(kind.period.start) -enddate \(kind.period.end)")
        }
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout stranger.key -out stranger.pem",
            "-config openssl.cnf -subj /CN=stranger -days 3650")
        try makeClient()
    }

    private func makeClient() throws {
        let locking = [Self.passphrase]
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout client.key -out client.csr",
            "-config openssl.cnf -subj /CN=client")
        try openssl(
            "ca -batch -notext -config openssl.cnf -in client.csr -out client.pem",
            "-cert ca.pem -keyfile ca.key -startdate \(Self.start) -enddate \(Self.end)")
        try openssl("pkey -in client.key -aes256 -out client-locked.key -passout stdin", input: locking)
        try openssl("pkcs12 -export -in client.pem -inkey client.key -out client.p12 -passout stdin", input: locking)
    }

    private func openssl(_ arguments: String..., input lines: [String] = []) throws {
        try Program.run(
            Program.path("openssl"), arguments.joined(separator: " ").split(separator: " ").map(String.init),
            input: Data(lines.map { $0 + "\n" }.joined().utf8), in: folder)
    }

    static let configuration = """
        [req]
        distinguished_name = name
        [name]
        [authority]
        basicConstraints = critical, CA:TRUE
        keyUsage = critical, keyCertSign
        [ca]
        default_ca = own
        [own]
        database = index.txt
        new_certs_dir = .
        serial = serial.txt
        default_md = sha256
        policy = any
        copy_extensions = copy
        unique_subject = no
        [any]
        commonName = supplied
        """
}
