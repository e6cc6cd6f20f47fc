// SPDX-License-Identifier: MIT

import Curlew

/// The platform's transport, and a service that fails on request: it answers 500 to this many requests.
actor Outage: Transport {
    private let engine = APIClient().transport
    private var failures = 0

    func begin(_ failures: Int) {
        self.failures = failures
    }

    nonisolated func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        engine.principal(of: request, in: context)
    }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        guard failures > 0 else { return try await engine.send(request, in: context) }
        failures -= 1
        var request = request
        request.appendQuery("fail", "500")
        return try await engine.send(request, in: context)
    }
}
