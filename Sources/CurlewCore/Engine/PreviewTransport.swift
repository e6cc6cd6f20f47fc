// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Keeps the request that reaches it, and ends the call.
struct PreviewTransport: Transport {
    /// The transport of the client, for the requests of an interceptor's own (`Next.transport`).
    let onward: any Transport
    let request = Locked<HTTPRequest?>(nil)

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        var request = request
        // Interceptors may have declared secrets after the request was built.
        request.secrets = context.secrets
        self.request.withLock { $0 = request }
        throw NetworkError(.refused(by: .preview))
    }
}
