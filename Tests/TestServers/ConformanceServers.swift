// SPDX-License-Identifier: MIT

package import ConformanceCases
import CurlewCore
import CurlewTesting

/// The servers that conformance cases need, started once for all tests of the process.
package final class ConformanceServers: Sendable {
    package let environment: ConformanceEnvironment
    /// What could not be started, each with its reason.
    package let missing: [String]
    /// Kept, because they end with their objects.
    private let servers: [any Sendable]

    /// Whether it goes on without what cannot be started. `Scripts/setup` installs all of it on Linux, and nothing on a
    /// Mac.
    package static var arePartial: Bool {
        #if os(Linux)
        false
        #else
        true
        #endif
    }

    private static let starting = Locked<Task<ConformanceServers, any Error>?>(nil)

    /// Starts them once. Throws what is missing, where nothing may be.
    package static func shared() async throws -> ConformanceServers {
        let task = starting.withLock { task in
            let started = task ?? Task { try await ConformanceServers(isPartial: arePartial) }
            task = started
            return started
        }
        return try await task.value
    }

    /// Whether the case can be run.
    package func areReady(for one: ConformanceCase) -> Bool {
        one.needs.allSatisfy { environment.addresses[$0] != nil }
    }

    package init(isPartial: Bool, nginx makeNginx: @Sendable () async throws -> Nginx = Nginx.shared) async throws {
        var missing: [String] = []
        func start<Server>(_ name: String, _ make: () async throws -> Server) async throws -> Server? {
            do {
                return try await make()
            } catch {
                guard isPartial else { throw error }
                missing.append("\(name): \(error)")
                return nil
            }
        }
        let http = try LoopbackProxy(.http, needsCredentials: true)
        let socks = try LoopbackProxy(.socks5, needsCredentials: true)
        var servers: [any Sendable] = [http, socks]
        var addresses: [ConformanceEnvironment.Part: String] = [
            .httpProxy: "http://127.0.0.1:\(http.port)", .socksProxy: "socks5://127.0.0.1:\(socks.port)",
        ]
        if let nginx = try await start("nginx", makeNginx) {
            let certificates = nginx.certificates
            servers.append(nginx)
            let more: [ConformanceEnvironment.Part: String] = [
                .secure: nginx.secure(), .expired: nginx.secure(.expired), .notYetValid: nginx.secure(.notYetValid),
                .wrongHost: nginx.secure(.wrongHost), .selfSigned: nginx.secure(.selfSigned),
                .missingIntermediate: nginx.secure(.missingIntermediate), .mutual: nginx.mutual,
                .unixSocket: nginx.socket, .authority: certificates.authority, .client: certificates.client + ".pem",
                .stranger: certificates.stranger + ".pem", .certificate: certificates.certificate(.valid),
            ]
            addresses.merge(more) { $1 }
            if let hostile = try await start("the HTTP/2 server", { try await onThread { try H2Server(certificates) } })
            {
                servers.append(hostile)
                addresses[.hostileHTTP2] = hostile.url
            }
            let demanding = try await start("the TLS server") {
                try await PythonTLSServer.start(certificates, asksForCertificates: true)
            }
            if let demanding {
                servers.append(demanding)
                addresses[.demanding] = "https://localhost:\(demanding.port)"
            }
        }
        (self.servers, self.missing) = (servers, missing)
        environment = ConformanceEnvironment(addresses)
    }
}
