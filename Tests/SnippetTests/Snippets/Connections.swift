// SPDX-License-Identifier: MIT

import Curlew

#if os(Linux)
enum ConnectionsPage {
    static func client() -> APIClient {
        var configuration = TransportConfiguration()
        configuration.tls.minimumVersion = .v13
        let client = APIClient(
            baseURL: "https://api.example.com", pipeline: .standard,
            transport: CurlTransport(configuration: configuration))

        return client
    }

    static func trust(_ configuration: inout TransportConfiguration, _ data: Data) {
        configuration.tls.trustedRoots = .file("/etc/ssl/our.pem")  // or .pem(data)
    }

    static func identity(_ configuration: inout TransportConfiguration, _ passphrase: String) {
        configuration.tls.identity = .pemFiles(certificate: "client.pem", key: "client.key")

        configuration.tls.identity = .pkcs12File("client.p12", passphrase: passphrase, hosts: ["*.example.com"])
    }

    static func pins(
        _ configuration: inout TransportConfiguration, current: String, backup: String, releaseDate: Date
    ) {
        configuration.tls.pins = [
            TransportConfiguration.TLS.PinSet(
                hosts: ["api.example.com"], keys: [current, backup], expires: releaseDate + 365 * 86_400)
        ]
    }

    static func authorityPins(
        _ configuration: inout TransportConfiguration, intermediate: String, root: String, nextRoot: String
    ) {
        configuration.tls.pins = [
            TransportConfiguration.TLS.PinSet(
                hosts: ["*.example.com"], keys: [intermediate, root, nextRoot], scope: .verifiedChain)
        ]
    }

    static func proxies(_ configuration: inout TransportConfiguration, user: String, password: String) {
        let proxy = TransportConfiguration.Proxy.Server(.http, host: "proxy.example", port: 3128)
        configuration.proxy = .fixed(proxy, bypassing: ["10.0.0.0/8"])
        let socks = TransportConfiguration.Proxy.Server(.socks5, host: "proxy.example", user: user, password: password)
        configuration.proxy = .fixed(socks)
        let digest = TransportConfiguration.Proxy.Server(
            .http, host: "proxy.example", user: user, password: password, authentication: .digest)
        configuration.proxy = .fixed(digest)
        configuration.proxy = .environment
    }

    static func addresses(
        _ configuration: inout TransportConfiguration,
        isOurs: @escaping @Sendable (IPAddress) -> Bool
    ) {
        configuration.addressPolicy = .publicOnly
        configuration.addressPolicy = .publicOnly.allowing("10.1.0.0/16").refusing("10.1.2.3")
        configuration.addressPolicy = .asking { address in isOurs(address) }
    }

    static func onlySecure() -> Pipeline {
        let pipeline = Pipeline.standard.adding(.httpsOnly())

        return pipeline
    }

    static func places(_ configuration: inout TransportConfiguration) {
        configuration.unixSocket = "/run/service.sock"  // for every host
        configuration.dns.overrides = [.init(host: "api.example.com", port: 443, target: "10.0.0.5", targetPort: 8443)]
        configuration.dns.addresses = .ipv4
        configuration.localAddress = .address("192.0.2.7")  // or .interface("eth1")
        configuration.pool.perHost = 16
        configuration.pool.lifetime = .seconds(600)  // notices new addresses
    }

    static func stop(_ client: APIClient) async {
        if await !client.drain(for: .seconds(20)) { print("some calls have not ended") }
        await client.transport.shutdown()  // ends them, and those of other clients
    }

    static func warmUp(_ transport: CurlTransport) async throws {
        try await transport.warmUp("https://api.example.com/health", connections: 4)
    }
}
#endif
