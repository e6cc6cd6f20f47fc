// SPDX-License-Identifier: MIT

import Testing

/// The facts of a connection as values.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionInfoTests {
    @Test("Connection facts are equal by their values, not by their source")
    func equality() {
        let tls = ConnectionInfo.TLS(version: .v13, cipherSuite: "TLS_AES_128_GCM_SHA256", isResumed: true)
        let one = ConnectionInfo(id: 7, localAddress: "192.0.2.7:51344", tls: tls)
        let same = ConnectionInfo(id: 7, localAddress: "192.0.2.7:51344", tls: tls)
        #expect(one == same && one.hashValue == same.hashValue)
        #expect(one != ConnectionInfo(id: 8, localAddress: "192.0.2.7:51344", tls: tls))
        #expect(one != ConnectionInfo(id: 7, localAddress: "192.0.2.7:51345", tls: tls))
        #expect(one != ConnectionInfo(id: 7, localAddress: "192.0.2.7:51344"))
    }

    @Test("Descriptions of a connection are one line, and leave out unknown facts")
    func description() {
        let tls = ConnectionInfo.TLS(version: .v13, cipherSuite: "TLS_AES_128_GCM_SHA256", isResumed: true)
        let whole = ConnectionInfo(id: 7, localAddress: "192.0.2.7:51344", tls: tls)
        #expect(
            "\(whole)" == "connection 7 from 192.0.2.7:51344, TLS 1.3 with TLS_AES_128_GCM_SHA256, resumed")
        #expect("\(ConnectionInfo())" == "a connection")
        #expect("\(ConnectionInfo(id: 1, tls: .init(version: .v12)))" == "connection 1, TLS 1.2")
        let phases = [
            ExchangeEvent.ConnectionPhase.trying(address: "192.0.2.1:443"), .opened, .secured(.init()),
            .ready(ConnectionInfo(id: 1)),
        ]
        #expect(
            phases.map(\.description) == [
                "trying 192.0.2.1:443", "opened", "secured by TLS", "ready on connection 1",
            ])
    }
}
