// SPDX-License-Identifier: MIT

import Curlew

/// Removes fields that the client or another interceptor has added: the item `Name:`.
struct FieldRemoval: Interceptor {
    let names: [HTTPField.Name]

    /// After the interceptors that attach credentials, and before a signature is made.
    let traits = InterceptorTraits(placement: .fields) { _, _ in .anonymous }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        for name in names { request.headers.remove(name) }
        return try await next(request)
    }
}

/// Remembers the last request as it is sent. Events arrive later than the response, before which it is printed.
final class SentRequest: Interceptor {
    private let request = Locked<HTTPRequest?>(nil)

    var last: HTTPRequest? { request.withLock { $0 } }
    let traits = InterceptorTraits(placement: .wire) { _, _ in .anonymous }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        self.request.withLock { $0 = request }
        return try await next(request)
    }
}
