// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewCore
import CurlewHTTP
import CurlewStreams
import Foundation
import TestServers
import Testing

@testable import CurlewURLSession

/// Challenges, as Darwin asks them and as it goes on after a refusal.
@Suite(.timeLimit(.minutes(1)))
struct AppleTrustTests {
    @Test("After a refused certificate every call has the reason of the first")
    func refusedCertificate() async throws {
        let environment = try await ConformanceServers.shared().environment
        let (server, roots) = (
            try #require(environment.addresses[.expired]), try #require(environment.addresses[.authority])
        )
        let tls = TransportConfiguration.TLS(trustedRoots: .file(roots))
        let transport = URLSessionTransport(configuration: TransportConfiguration(tls: tls))
        for _ in 0..<3 {
            #expect(await transport.failure(.get, server + "/empty")?.reason == .secureConnectionFailed(.expired))
        }
        let client = APIClient(baseURL: try BaseURL(server), pipeline: [], transport: transport)
        let error = await #expect(throws: NetworkError.self) { try await client.webSocket(.get("/")) }
        #expect(error?.reason == .secureConnectionFailed(.expired))
    }

    @Test("The reason of a refusal is forgotten when the origin has responded")
    func forgottenRefusal() async throws {
        let environment = try await ConformanceServers.shared().environment
        let server = try #require(environment.addresses[.secure]) + "/empty"
        let (folder, settings) = (try TemporaryFolder(), URLSessionConfiguration.ephemeral)
        settings.behaviour.remembersRefusals = false
        let tls = TransportConfiguration.TLS(trustedRoots: .file(folder.path + "/roots.pem"))
        let transport = URLSessionTransport(configuration: TransportConfiguration(tls: tls), session: settings)
        #expect(await transport.failure(.get, server)?.reason == .configuration)
        let roots = try #require(environment.addresses[.authority])
        try FileManager.default.copyItem(atPath: roots, toPath: folder.path + "/roots.pem")
        #expect(try await transport.exchange(.get, server).status == .noContent)
        settings.behaviour.endsAllTasks.withLock { $0 = .cancelled }
        #expect(await transport.failure(.get, server)?.reason == .connectionLost(.requestMayHaveArrived))
    }

    @Test("An identity is imported once, not on the delegate's queue, and never into a keychain")
    func identity() async throws {
        let environment = try await ConformanceServers.shared().environment
        let client = try #require(environment.addresses[.client]).dropLast(".pem".count)
        // A copy of its own, because imports are counted by archive.
        let archive = try Data(contentsOf: URL(fileURLWithPath: client + ".p12"))
        let tls = TransportConfiguration.TLS(
            trustedRoots: .file(try #require(environment.addresses[.authority])),
            identity: .pkcs12(archive, passphrase: Certificates.passphrase))
        let transport = URLSessionTransport(configuration: TransportConfiguration(tls: tls))
        let mutual = try #require(environment.addresses[.mutual])
        #expect(try await transport.exchange(.get, mutual + "/").text().contains("SUCCESS"))
        let other = try #require(environment.addresses[.secure])
        #expect(try await transport.exchange(.get, other + "/empty").status == .noContent)
        let imports = try #require(DarwinKeychain.imports.withLock { $0[archive] })
        #expect(imports == DarwinKeychain.Imports(all: 1, stored: 0, onDelegateQueue: 0))
    }
}
