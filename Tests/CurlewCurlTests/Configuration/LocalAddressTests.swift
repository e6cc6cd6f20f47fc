// SPDX-License-Identifier: MIT

import Testing

/// `TransportConfiguration.localAddress`: from where the transport connects.
@Suite(.timeLimit(.minutes(1)))
struct LocalAddressTests {
    private func transport(_ local: TransportConfiguration.LocalAddress) -> CurlTransport {
        CurlTransport(configuration: TransportConfiguration(localAddress: local))
    }

    @Test("The server sees the chosen local address", arguments: ["127.0.0.2", "127.9.8.7"])
    func address(text: String) async throws {
        let nginx = try await Nginx.shared()
        let response = try await transport(.address(text)).exchange(.get, nginx.plain + "/peer")
        #expect(try await response.text().hasPrefix("\(text):"))
        #expect(response.metrics.connection?.localAddress?.hasPrefix("\(text):") == true)
    }

    @Test("An interface is found by its name")
    func interface() async throws {
        let nginx = try await Nginx.shared()
        let seen = try await transport(.interface("lo")).exchange(.get, nginx.plain + "/peer").text()
        #expect(seen.hasPrefix("127.0.0.1:"))
    }

    @Test(
        "An address or interface that the machine lacks is a configuration error",
        arguments: [
            TransportConfiguration.LocalAddress.address("192.0.2.1"), .interface("nowhere0"),
        ])
    func missing(local: TransportConfiguration.LocalAddress) async throws {
        let nginx = try await Nginx.shared()
        let error = try #require(await transport(local).failure(.get, nginx.plain + "/peer"))
        #expect(error.reason == .configuration)
        #expect(error.hint?.contains("localAddress") == true)
        expectTexts(error)
    }

    @Test("An address of the other family cannot be reached")
    func otherKind() async throws {
        let nginx = try await Nginx.shared()
        let error = try #require(await transport(.address("::1")).failure(.get, nginx.plain + "/peer"))
        #expect(error.reason == .unreachable)
        expectTexts(error)
    }

    @Test(
        "A local address that cannot work is refused before anything is tried",
        arguments: [
            TransportConfiguration.LocalAddress.address("localhost"), .address(""), .address("127.0.0.1\n"),
            .interface(""),
            .interface("a/b"), .interface("sixteen-letters0"), .interface("lo!127.0.0.1 "),
        ])
    func problems(local: TransportConfiguration.LocalAddress) async throws {
        let configuration = TransportConfiguration(localAddress: local)
        #expect(configuration.problems.count == 1)
        #expect(configuration.problems.first?.hasPrefix("TransportConfiguration.localAddress") == true)
        let error = await transport(local).failure(.get, "http://127.0.0.1:1/")
        #expect(error?.reason == .configuration)
    }

    @Test("A Unix domain socket has no address to bind to")
    func unixSocket() {
        let configuration = TransportConfiguration(unixSocket: "/tmp/socket", localAddress: .address("127.0.0.1"))
        #expect(configuration.problems.count == 1)
    }
}
