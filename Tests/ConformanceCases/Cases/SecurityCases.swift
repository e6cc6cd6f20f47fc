// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for the certificates that the client trusts, and for the certificate that the client presents.
enum SecurityCases {
    static let all = trust + handshakes + identities + pins

    private static let trust =
        [
            ConformanceCase(
                "a certificate of a trusted authority is accepted, by name and by address", .security,
                needs: [.secure, .authority], rule: "RFC 9110 §4.3.4"
            ) { trial in
                let transport = try trial.trusting()
                let url = try trial.address(.secure)
                for origin in [url, url.replacing("localhost", with: "127.0.0.1")] {
                    let response = try await trial.exchange(.get, origin + "/body.bin", over: transport)
                    try trial.equal(try await response.data(), MockResponse.pattern(0..<3_000_000), "the body")
                }
            },
            ConformanceCase(
                "an authority may be given as text", .security, needs: [.secure, .authority],
                rule: "TransportConfiguration.TLS.TrustedRoots.pem"
            ) { trial in
                let pem = try Data(contentsOf: URL(fileURLWithPath: trial.address(.authority)))
                let tls = TransportConfiguration.TLS(trustedRoots: .pem(pem))
                let transport = try trial.transport(TransportConfiguration(tls: tls))
                try await trial.expectEmpty(.secure, over: transport)
            },
            ConformanceCase(
                "without its authority a server is not trusted", .security, needs: [.secure], rule: "RFC 9110 §4.3.4"
            ) { trial in
                try await trial.expectRefusal(.secure, .untrusted, over: trial.transport())
            },
        ]
        + ([
            ("an expired certificate", .expired, .expired), ("a certificate not yet valid", .notYetValid, .notYetValid),
            ("a certificate of another host", .wrongHost, .wrongHost),
            ("a certificate that only its owner signed", .selfSigned, .untrusted),
            ("a certificate without the one between it and the authority", .missingIntermediate, .untrusted),
        ] as [(String, ConformanceEnvironment.Part, NetworkError.TLSFailure)]).map { what, part, failure in
            ConformanceCase(
                "\(what) ends the call, with the reason", .security, needs: [part, .secure, .authority],
                rule: "RFC 9110 §4.3.4, RFC 5280 §6.1"
            ) { trial in
                let transport = try trial.trusting()
                for _ in 0..<2 { try await trial.expectRefusal(part, failure, over: transport) }
                try await trial.expectEmpty(.secure, over: transport)
            }
        }

    private static let handshakes = [
        ("speaks plain HTTP", MockResponse.Interruption?.none), ("closes the connection", .close),
        ("resets the connection", .reset),
    ].map { what, interruption in
        ConformanceCase("a server that \(what) fails the handshake", .security, rule: "RFC 8446 §4") { trial in
            let server = try trial.server()
            // The first bytes of the handshake are not HTTP, so that without an interruption the server closes without
            // a response.
            if let interruption { server.enqueue(.text("never").interrupted(by: interruption, at: .beforeRequestRead)) }
            let work = { _ = try await trial.exchange(.get, "https://127.0.0.1:\(server.port)/") }
            if interruption == nil {
                try await trial.expectFailure(.secureConnectionFailed(.handshake), work: work)
            } else {
                // The connection is lost and nothing was sent; not every transport can determine why a handshake
                // failed.
                try await trial.expectFailure(
                    .connectionLost(.requestNotSent), .secureConnectionFailed(.handshake), work: work)
            }
        }
    }

    private static let identities = [
        ConformanceCase(
            "a server that asks for a certificate sees the client's", .security, needs: [.mutual, .authority, .client],
            rule: "RFC 8446 §4.4.2"
        ) { trial in
            let transport = try trial.trusting(identity: .client)
            let response = try await trial.exchange(.get, trial.address(.mutual) + "/", over: transport)
            try trial.expect(try await response.text().hasPrefix("SUCCESS"), "the server saw no certificate")
        },
        ConformanceCase(
            "a server that asks and gets no certificate may answer with its own status", .security,
            needs: [.mutual, .authority], rule: "RFC 8446 §4.4.2"
        ) { trial in
            let response = try await trial.exchange(.get, trial.address(.mutual) + "/", over: trial.trusting())
            try trial.equal(response.status, .badRequest, "the status")
        },
        ConformanceCase(
            "a server that wants a certificate and gets none fails the call, with the reason", .security,
            needs: [.demanding, .authority], rule: "RFC 8446 §4.4.2.4"
        ) { trial in
            try await trial.expectFailure(.secureConnectionFailed(.clientCertificate)) {
                _ = try await trial.exchange(.get, trial.address(.demanding) + "/", over: trial.trusting())
            }
        },
        ConformanceCase(
            "a certificate of a stranger fails the call, with the reason", .security,
            needs: [.demanding, .authority, .stranger], rule: "RFC 8446 §4.4.2.4"
        ) { trial in
            try await trial.expectFailure(.secureConnectionFailed(.clientCertificate)) {
                let transport = try trial.trusting(identity: .stranger)
                _ = try await trial.exchange(.get, trial.address(.demanding) + "/", over: transport)
            }
        },
        ConformanceCase(
            "a certificate is shown to the hosts that are named only", .security,
            needs: [.mutual, .authority, .client],
            rule: "TransportConfiguration.TLS.ClientIdentity.hosts"
        ) { trial in
            let transport = try trial.trusting(identity: .client, hosts: ["other.example"])
            let response = try await trial.exchange(.get, trial.address(.mutual) + "/", over: transport)
            try trial.equal(response.status, .badRequest, "the status")
        },
    ]

    private static let others = ["a", "b"].map {
        "sha256//" + Data(repeating: $0.utf8.first ?? 0, count: 32).base64EncodedString()
    }

    private static let pins = [
        ConformanceCase(
            "a server with one of the pinned keys is reached", .security, needs: [.secure, .authority, .certificate],
            rule: "RFC 7469 §2.6"
        ) { trial in
            for place in 0...others.count {
                var keys = others
                keys.insert(try trial.serverKey(), at: place)
                try await trial.expectEmpty(
                    .secure,
                    over: trial.trusting(pins: TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: keys)))
            }
        },
        ConformanceCase(
            "a server without a pinned key is refused", .security, needs: [.secure, .authority], rule: "RFC 7469 §2.6"
        ) { trial in
            let transport = try trial.trusting(
                pins: TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: others))
            for _ in 0..<2 { try await trial.expectRefusal(.secure, .pinMismatch, over: transport) }
            let other = try trial.address(.secure).replacing("localhost", with: "127.0.0.1")
            let response = try await trial.exchange(.get, other + "/empty", over: transport)
            try trial.equal(response.status, .noContent, "the status of a host without pins")
        },
        ConformanceCase(
            "pins that only report let the call go on", .security, needs: [.secure, .authority],
            rule: "TransportConfiguration.TLS.PinSet.Mode.reportOnly"
        ) { trial in
            let pins = TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: others, mode: .reportOnly)
            try await trial.expectEmpty(.secure, over: trial.trusting(pins: pins))
        },
        ConformanceCase(
            "a pinned key does not replace trust", .security, needs: [.secure, .certificate], rule: "RFC 7469 §2.6"
        ) { trial in
            let pins = TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: [try trial.serverKey()] + others)
            let tls = TransportConfiguration.TLS(pins: [pins])
            let transport = try trial.transport(TransportConfiguration(tls: tls))
            try await trial.expectRefusal(.secure, .untrusted, over: transport)
        },
    ]
}

extension ConformanceTrial {
    /// Creates a transport that trusts the certificate authority of the environment.
    func trusting(
        identity: ConformanceEnvironment.Part? = nil, hosts: [String] = [],
        pins: TransportConfiguration.TLS.PinSet? = nil,
        change: (inout TransportConfiguration) -> Void = { _ in }
    ) throws -> any Transport {
        var tls = TransportConfiguration.TLS(trustedRoots: .file(try address(.authority)))
        if let identity {
            let certificate = try address(identity)
            tls.identity = .pemFiles(
                certificate: certificate, key: certificate.dropLast(".pem".count) + ".key", hosts: hosts)
        }
        if let pins { tls.pins = [pins] }
        var configuration = TransportConfiguration(tls: tls)
        change(&configuration)
        return try transport(configuration)
    }

    func expectEmpty(_ part: ConformanceEnvironment.Part, over transport: any Transport) async throws {
        let response = try await exchange(.get, address(part) + "/empty", over: transport)
        try equal(response.status, .noContent, "the status")
    }

    fileprivate func expectRefusal(
        _ part: ConformanceEnvironment.Part, _ failure: NetworkError.TLSFailure, over transport: any Transport
    ) async throws {
        let error = try await expectFailure(.secureConnectionFailed(failure)) {
            _ = try await exchange(.get, address(part) + "/empty", over: transport)
        }
        try expect(!error.isRetryable, "a failure of trust can be retried")
    }

    fileprivate func serverKey() throws -> String {
        let certificate = try Data(contentsOf: URL(fileURLWithPath: address(.certificate)))
        guard let key = TransportConfiguration.TLS.PinSet.key(ofCertificate: certificate) else {
            throw ConformanceFailure("the certificate of the environment has no key")
        }
        return key
    }
}
