// SPDX-License-Identifier: MIT

import Testing

/// An origin that speaks HTTP/2 on some connections and HTTP/1.1 on others, as a host does whose machines are
/// configured differently: no call ever receives another call's response.
@Suite(.timeLimit(.minutes(1)))
struct MixedVersionTests {
    @Test("Responses reach the calls that sent the requests, or none", arguments: [1, 2])
    func answers(loops: Int) async throws {
        let certificates = try await Nginx.shared().certificates
        let server = try await onThread { try H2Server(certificates, isMixed: true) }
        let counts = Locked((complete: 0, lost: 0))
        for round in 0..<8 {
            let tls = TransportConfiguration.TLS(trustedRoots: .file(certificates.authority))
            let transport = CurlTransport(
                configuration: TransportConfiguration(tls: tls), options: CurlTransport.Options(eventLoops: loops))
            await withTaskGroup(of: Void.self) { group in
                for caller in 0..<60 {
                    group.addTask {
                        for call in 0..<5 {
                            let path = "/echo/\(round)-\(caller)-\(call)"
                            let ending = await outcome(
                                Task {
                                    let text = try await transport.exchange(.get, server.url + path).text()
                                    #expect(text == path)
                                })
                            // One that stood where it could not be served may be asked again.
                            #expect(ending.reason == nil || ending.reason == .connectionLost(.requestMayHaveArrived))
                            counts.withLock { if ending.reason == nil { $0.complete += 1 } else { $0.lost += 1 } }
                        }
                    }
                }
            }
            // It has been found out by now, and is only asked for what cannot be mixed up.
            for call in 0..<20 {
                let text = try await transport.exchange(.get, server.url + "/echo/late-\(call)").text()
                #expect(text == "/echo/late-\(call)")
            }
            await transport.shutdown()
        }
        let (complete, lost) = counts.withLock { $0 }
        // How many are lost depends on how many connections stood when the transport found out what the origin is, so
        // on the speed of the machine. Half of them is far above what was seen (17 %), and far below an origin that is
        // of no use.
        #expect(complete + lost == 8 * 60 * 5 && lost < 1200, "\(complete) complete, \(lost) lost")
    }

    @Test("An ordinary origin never looks like a mixed one", arguments: ["http/1.1", "h2"])
    func ordinary(version: String) async throws {
        let nginx = try await Nginx.shared()
        var configuration = nginx.configuration
        configuration.pool.perHost = 8
        let transport = CurlTransport(configuration: configuration)
        let url = version == "h2" ? nginx.secure() : nginx.serial
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    for _ in 0..<30 {
                        let response = try await transport.exchange(.get, url + "/empty")
                        #expect(response.status == .noContent)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
