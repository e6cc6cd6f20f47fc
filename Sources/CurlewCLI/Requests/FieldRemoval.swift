// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Removes fields that the client or another interceptor has added: the item `Name:`.
struct FieldRemoval: Interceptor {
    let names: [HTTPField.Name]

    /// After the interceptors that attach credentials, and before a signature is made.
    var placement: Placement { .compression }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        for name in names { request.headers.remove(name) }
        return try await next(request)
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }
}
