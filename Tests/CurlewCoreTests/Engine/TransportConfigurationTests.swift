// SPDX-License-Identifier: MIT

import Testing

/// What cannot work is named before anything is opened.
@Suite(.timeLimit(.minutes(1)))
struct TransportConfigurationTests {
    @Test("The default has no problems")
    func standard() {
        #expect(TransportConfiguration().problems.isEmpty)
    }

    @Test(
        "Each problem names its option",
        arguments: [
            (
                TransportConfiguration(pool: TransportConfiguration.Pool(perHost: 0)),
                "TransportConfiguration.Pool.perHost"
            ),
            (TransportConfiguration(pool: TransportConfiguration.Pool(total: 0)), "TransportConfiguration.Pool.total"),
            (TransportConfiguration(pool: TransportConfiguration.Pool(idle: -1)), "TransportConfiguration.Pool.idle"),
            (TransportConfiguration(unixSocket: ""), "unixSocket"),
            (TransportConfiguration(unixSocket: String(repeating: "a", count: 108)), "unixSocket"),
            (TransportConfiguration(unixSocket: "a\0b"), "unixSocket"),
            (TransportConfiguration(proxy: .environment, unixSocket: "/run/a"), "mutually exclusive"),
        ])
    func problems(configuration: TransportConfiguration, name: String) {
        #expect(configuration.problems.count == 1)
        #expect(configuration.problems.first?.contains(name) == true)
    }

    @Test("Values out of range are clamped, in the initialiser and later")
    func ranges() {
        let odd = TransportConfiguration(bodyBuffer: -1, smallBody: -1)
        var changed = TransportConfiguration()
        changed.bodyBuffer = 0
        changed.smallBody = -5
        for configuration in [odd, changed] {
            #expect(configuration.bodyBuffer == 16 << 10)
            #expect(configuration.smallBody == 0)
        }
    }

    @Test(
        "A DNS override is written as libcurl takes it",
        arguments: [
            (.init(host: "A.example", port: 443, target: "10.0.0.1", targetPort: 8443), "a.example:443:10.0.0.1:8443"),
            (.init(host: "a.example", target: "b.example"), "a.example::b.example:"),
            (.init(host: "::1", port: 80, target: "[::2]"), "[::1]:80:[::2]:"),
            (.init(host: "", target: "b.example"), nil), (.init(host: "a.example", target: "b c"), nil),
            (.init(host: "a.example", port: 0, target: "b.example"), nil),
            (.init(host: "a.example", target: "b.example:80"), nil),
        ] as [(TransportConfiguration.DNS.Override, String?)])
    func overrides(override: TransportConfiguration.DNS.Override, line: String?) {
        #expect(override.line == line)
        let problems = TransportConfiguration(dns: TransportConfiguration.DNS(overrides: [override])).problems
        #expect(problems.count == (line == nil ? 1 : 0))
    }
}
