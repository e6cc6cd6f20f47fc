// SPDX-License-Identifier: MIT

import Testing

/// A POST without a key through the standard pipeline's parts that send again.
@Suite(.timeLimit(.minutes(2)))
struct OneArrivalTests {
    @Test("A POST without a key reaches the server once, whatever the server does")
    func once() async throws {
        for trouble in OneArrival.all {
            let transport = CurlTransport()
            // On a busy machine the usual limit may pass before the request has arrived.
            let arrivals = try await trouble.arrivals(over: transport, limit: .milliseconds(500))
            #expect(arrivals == 1, "\(trouble)")
            await transport.shutdown()
        }
    }

    @Test("A POST with a key is sent again")
    func again() async throws {
        let transport = CurlTransport()
        let again = OneArrival.all.filter { $0.description.hasPrefix("status") }
        #expect(again.count == 36)
        for trouble in again { #expect(try await trouble.arrivals(over: transport, key: "k") == 2, "\(trouble)") }
        await transport.shutdown()
    }
}
