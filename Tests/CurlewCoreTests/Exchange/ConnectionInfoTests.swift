// SPDX-License-Identifier: MIT

import CurlewCore
import Testing

/// The facts of a connection as values.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionInfoTests {
    @Test("facts are equal by what they say, not by where they came from")
    func equality() {
        let tls = ExchangeMetrics.Connection.TLS(version: .v13, cipherSuite: "TLS_AES_128_GCM_SHA256", isResumed: true)
        let one = ExchangeMetrics.Connection(id: 7, localAddress: "192.0.2.7:51344", tls: tls)
        let same = ExchangeMetrics.Connection(id: 7, localAddress: "192.0.2.7:51344", tls: tls)
        #expect(one == same && one.hashValue == same.hashValue)
        #expect(one != ExchangeMetrics.Connection(id: 8, localAddress: "192.0.2.7:51344", tls: tls))
        #expect(one != ExchangeMetrics.Connection(id: 7, localAddress: "192.0.2.7:51345", tls: tls))
        #expect(one != ExchangeMetrics.Connection(id: 7, localAddress: "192.0.2.7:51344"))
    }

    @Test("descriptions are one line, and leave out what is not known")
    func description() {
        let tls = ExchangeMetrics.Connection.TLS(version: .v13, cipherSuite: "TLS_AES_128_GCM_SHA256", isResumed: true)
        let whole = ExchangeMetrics.Connection(id: 7, localAddress: "192.0.2.7:51344", tls: tls)
        #expect(
            "\(whole)" == "connection 7 from 192.0.2.7:51344, TLS 1.3 with TLS_AES_128_GCM_SHA256, resumed")
        #expect("\(ExchangeMetrics.Connection())" == "a connection")
        #expect("\(ExchangeMetrics.Connection(id: 1, tls: .init(version: .v12)))" == "connection 1, TLS 1.2")
        let phases = [
            ExchangeEvent.ConnectionPhase.trying(address: "192.0.2.1:443"), .opened, .secured(.init()),
            .ready(ExchangeMetrics.Connection(id: 1)),
        ]
        #expect(
            phases.map(\.description) == [
                "trying 192.0.2.1:443", "opened", "secured by TLS", "ready on connection 1",
            ])
    }
}
