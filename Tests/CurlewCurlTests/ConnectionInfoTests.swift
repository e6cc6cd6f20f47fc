// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// What metrics report about the connection of an exchange.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionInfoTests {
    @Test("Exchanges on one connection share its number and address, others have their own")
    func identity() async throws {
        let transport = CurlTransport()
        let server = try MockServer.always(.text("ok"))
        var first: [ExchangeMetrics.Connection] = []
        for _ in 0..<3 {
            first.append(try #require(try await transport.exchange(.get, server.url + "/").metrics.connection))
        }
        #expect(Set(first).count == 1)
        #expect(first[0].id != nil && first[0].tls == nil)
        #expect(first[0].localAddress?.hasPrefix("127.0.0.1:") == true)
        server.enqueue(.text("bye").closing())
        let last = try await transport.exchange(.get, server.url + "/").metrics.connection
        #expect(last == first[0])
        let next = try #require(try await transport.exchange(.get, server.url + "/").metrics.connection)
        #expect(next.id != first[0].id && next.localAddress != first[0].localAddress)
        let other = try await CurlTransport().exchange(.get, server.url + "/").metrics.connection
        #expect(other?.id != nil && other?.id != next.id)
    }

    @Test("The local address is the one that the server sees")
    func localAddress() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        for url in [nginx.plain, nginx.secure()] {
            let response = try await transport.exchange(.get, url + "/peer")
            let seen = try await response.text().split(separator: " ").first.map(String.init)
            #expect(response.metrics.connection?.localAddress == seen)
        }
    }

    @Test("Calls that share a connection of HTTP/2 at the same time all have its number")
    func shared() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        let seen = try await withThrowingTaskGroup(of: (String, UInt64?).self) { group in
            for _ in 0..<24 {
                group.addTask {
                    let response = try await transport.exchange(.get, nginx.secure() + "/connection")
                    let name = try await response.text().split(separator: " ")[0]
                    return (String(name), response.metrics.connection?.id)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let numbers = Dictionary(grouping: seen, by: \.0).mapValues { Set($0.map(\.1)) }
        #expect(numbers.values.allSatisfy { $0.count == 1 && !$0.contains(nil) })
        #expect(Set(seen.map(\.1)).count == numbers.count)
    }

    /// Another OpenSSL than the program's keeps its certificates to itself.
    private static let seesCertificates = CurlLibrary.current.pathProblem == nil

    @Test(
        "Version and cipher suite of TLS are reported, certificates only on request", .enabled(if: seesCertificates),
        arguments: [false, true],
        [TransportConfiguration.TLS.Version.v12, .v13])
    func tls(isNew: Bool, version: TransportConfiguration.TLS.Version) async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        let url = (version == .v12 ? nginx.serial : nginx.modern) + "/empty"
        if !isNew { _ = try await transport.exchange(.get, url).data() }
        func facts(_ asks: Bool?) async throws -> ExchangeMetrics.Connection.TLS {
            let response = try await transport.exchange(.get, url) { $0.peerCertificates = asks }
            #expect(response.metrics.reusedConnection == (isNew ? asks == nil ? false : true : true))
            return try #require(response.metrics.connection?.tls)
        }
        let unasked = try await facts(nil)
        #expect(unasked.version == version && unasked.isResumed == false)
        #expect(unasked.cipherSuite?.hasPrefix("TLS_") == true)
        #expect(unasked.certificates.isEmpty)
        let asked = try await facts(true)
        #expect(asked.certificates.first?.subject == "CN=valid")
        #expect(asked.certificates.first?.issuer == "CN=Authority")
        #expect("\(asked)".hasPrefix("TLS 1.\(version == .v12 ? 2 : 3) with TLS_"))
    }

    @Test("Observers see the certificates of a connection that was there before", .enabled(if: seesCertificates))
    func observed() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        _ = try await transport.exchange(.get, nginx.secure() + "/empty").data()
        let observer = RecordingObserver()
        _ = try await transport.exchange(.get, nginx.secure() + "/empty", observers: [observer]).data()
        #expect(await eventually { observer.events.count == 1 })
        let metrics = try #require(observer.events.first)
        #expect(metrics.reusedConnection == true)
        #expect(metrics.connection?.tls?.certificates.first?.subject == "CN=valid")
    }

    @Test("A Unix domain socket has a number and no address")
    func unixSocket() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: TransportConfiguration(unixSocket: nginx.socket))
        var seen: [ExchangeMetrics.Connection] = []
        for _ in 0..<2 {
            seen.append(try #require(try await transport.exchange(.get, "http://here/host").metrics.connection))
        }
        #expect(seen[0].id != nil && seen[0].id == seen[1].id && seen[0].localAddress == nil)
    }

    @Test("A call that reaches no server has no connection")
    func unreachable() async throws {
        let (socket, port) = try LoopbackPort.refusing()
        defer { close(socket) }
        let observer = RecordingObserver()
        await #expect(throws: NetworkError.self) {
            try await CurlTransport().exchange(.get, "http://127.0.0.1:\(port)/", observers: [observer])
        }
        #expect(await eventually { observer.events.count == 1 })
        #expect(observer.events.first?.connection == nil)
    }

    @Test("A connection through a proxy shows the TLS with the server", .enabled(if: seesCertificates))
    func proxied() async throws {
        let nginx = try await Nginx.shared()
        let proxy = try LoopbackProxy(.http)
        var configuration = nginx.configuration
        configuration.proxy = .fixed(TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: proxy.port))
        let response = try await CurlTransport(configuration: configuration)
            .exchange(.get, nginx.secure() + "/empty") { $0.peerCertificates = true }
        #expect(response.metrics.connection?.tls?.certificates.first?.subject == "CN=valid")
        #expect(response.metrics.remoteAddress == "127.0.0.1:\(proxy.port)")
    }
}
