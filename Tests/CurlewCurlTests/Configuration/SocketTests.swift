// SPDX-License-Identifier: MIT

import CTestSupport
import Testing

/// What the configuration makes of sockets and lookups, as the system and the server see it.
@Suite(.timeLimit(.minutes(1)))
struct SocketTests {
    @Test("The system probes idle peers, if configured", arguments: [nil, 1500, 60_000])
    func keepAlive(milliseconds: Int?) async throws {
        let server = try MockServer.always(.text("ok"))
        let pool = TransportConfiguration.Pool(keepAlive: milliseconds.map { .milliseconds($0) })
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        _ = try await transport.exchange(.get, server.url + "/").text()
        let socket = try #require(Self.sockets(to: server.port).first)
        #expect(Self.option(socket, SOL_SOCKET, SO_KEEPALIVE) == (milliseconds == nil ? 0 : 1))
        guard let milliseconds else { return }
        let seconds = Int32((milliseconds + 999) / 1000)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == seconds)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL) == seconds)
    }

    @Test("A name is looked up again when its time is over", arguments: [false, true])
    func nameCache(isKept: Bool) async throws {
        let server = try MockServer.always(.text("ok").closing())
        let dns = TransportConfiguration.DNS(cacheLifetime: isKept ? .seconds(60) : .zero)
        let transport = CurlTransport(configuration: TransportConfiguration(dns: dns))
        let name = isKept ? "kept.here.test" : "asked.here.test"
        for _ in 0..<3 { _ = try await transport.exchange(.get, "http://\(name):\(server.port)/").text() }
        #expect(server.connectionCount == 3)
        #expect(hanging_lookup_count(name) == (isKept ? 1 : 3))
    }

    @Test("An address of IPv6 that does not respond has its time, then IPv4 is tried too")
    func happyEyeballs() async throws {
        let server = try MockServer.always(.text("ok"))
        let crowded = try CrowdedPort6(port: server.port)
        let dns = TransportConfiguration.DNS(happyEyeballsDelay: .milliseconds(300))
        let transport = CurlTransport(configuration: TransportConfiguration(dns: dns))
        let url = "http://both.dual.test:\(server.port)/"
        let start = ContinuousClock.now
        let response = try await transport.exchange(.get, url)
        let time = ContinuousClock.now - start
        #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
        #expect(time >= .milliseconds(295) && time < .seconds(8))

        let four = CurlTransport(
            configuration: TransportConfiguration(dns: TransportConfiguration.DNS(addresses: .ipv4)))
        #expect(try await four.exchange(.get, url).text() == "ok")
        withExtendedLifetime(crowded) {}
    }

    /// The descriptors of this process that are connected to a port.
    private static func sockets(to port: Int) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            return code == 0 && address.sin_family == sa_family_t(AF_INET)
                && Int(UInt16(bigEndian: address.sin_port)) == port
        }
    }

    private static func option(_ socket: Int32, _ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, level, name, &value, &length)
        return value
    }
}

/// As `CrowdedPort`, at `::1`.
private final class CrowdedPort6: Sendable {
    private let descriptors: [Int32]

    init(port: Int) throws {
        var descriptors: [Int32] = []
        for index in 0..<5 {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let descriptor = socket(AF_INET6, type, 0)
            descriptors.append(descriptor)
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = UInt16(port).bigEndian
            address.sin6_addr = in6addr_loopback
            let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    index == 0 ? bind(descriptor, $0, size) : connect(descriptor, $0, size)
                }
            }
            guard code == 0 || errno == EINPROGRESS, index > 0 || listen(descriptor, 0) == 0 else {
                descriptors.forEach { close($0) }
                throw Program.Failure(description: "::1 cannot be used (errno \(errno))")
            }
        }
        self.descriptors = descriptors
    }

    deinit {
        descriptors.forEach { close($0) }
    }
}
