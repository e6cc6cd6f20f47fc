// SPDX-License-Identifier: MIT

import Testing

/// How long a transport lives.
@Suite(.timeLimit(.minutes(1)))
struct TransportLifetimeTests {
    @Test("The transport and its thread go with the last body that it feeds", arguments: [false, true])
    func lifetime(readsToTheEnd: Bool) async throws {
        let server = try MockServer.always(.generated(bytes: 200_000))
        weak var engine: CurlTransport?
        func use() async throws {
            let transport = CurlTransport()
            engine = transport
            let response = try await transport.exchange(.get, server.url + "/")
            if readsToTheEnd { #expect(try await response.data().count == 200_000) }
        }
        try await use()
        #expect(await eventually { engine == nil })
    }

    @Test("A body outlives the transport variable that made it")
    func outlives() async throws {
        let server = try MockServer.always(.data(Data(count: 2_000_000)))
        func body() async throws -> ResponseBody {
            try await CurlTransport().exchange(.get, server.url + "/").body
        }
        #expect(try await body().collect().count == 2_000_000)
    }
}
