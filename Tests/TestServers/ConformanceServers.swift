// SPDX-License-Identifier: MIT

import CurlewCore
package import CurlewTesting

/// The servers that conformance cases need, started once for all tests of the process.
package final class ConformanceServers: Sendable {
    package let environment: ConformanceEnvironment
    /// Kept, because they end with their objects.
    private let servers: [any Sendable]

    private static let starting = Locked<Task<ConformanceServers, any Error>?>(nil)

    /// Starts them once. Throws what is missing.
    package static func shared() async throws -> ConformanceServers {
        let task = starting.withLock { task in
            let started = task ?? Task { try await ConformanceServers() }
            task = started
            return started
        }
        return try await task.value
    }

    private init() async throws {
        let nginx = try await Nginx.shared()
        let certificates = nginx.certificates
        let hostile = try await onThread { try H2Server(certificates) }
        let demanding = try await PythonTLSServer.start(certificates, asksForCertificates: true)
        let http = try LoopbackProxy(.http, needsCredentials: true)
        let socks = try LoopbackProxy(.socks5, needsCredentials: true)
        servers = [nginx, hostile, demanding, http, socks]
        environment = ConformanceEnvironment([
            .secure: nginx.secure(), .expired: nginx.secure(.expired), .notYetValid: nginx.secure(.notYetValid),
            .wrongHost: nginx.secure(.wrongHost), .selfSigned: nginx.secure(.selfSigned),
            .missingIntermediate: nginx.secure(.missingIntermediate), .mutual: nginx.mutual,
            .demanding: "https://localhost:\(demanding.port)", .hostileHTTP2: hostile.url,
            .httpProxy: "http://127.0.0.1:\(http.port)", .socksProxy: "socks5://127.0.0.1:\(socks.port)",
            .unixSocket: nginx.socket, .authority: certificates.authority, .client: certificates.client + ".pem",
            .stranger: certificates.stranger + ".pem", .certificate: certificates.certificate(.valid),
        ])
    }
}
