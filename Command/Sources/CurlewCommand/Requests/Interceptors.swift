// SPDX-License-Identifier: MIT

import Curlew

/// Removes fields that the client or another interceptor has added: the item `Name:`.
struct FieldRemoval: Interceptor {
    let names: [HTTPField.Name]

    /// After the interceptors that attach credentials, and before a signature is made.
    var placement: Placement { .fields }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        for name in names { request.headers.remove(name) }
        return try await next(request)
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }
}

/// Remembers the last request as it is sent. Events arrive later than the response, before which it is printed.
final class SentRequest: Interceptor {
    private let request = Locked<HTTPRequest?>(nil)

    var last: HTTPRequest? { request.withLock { $0 } }
    var placement: Placement { .wire }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        self.request.withLock { $0 = request }
        return try await next(request)
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }
}
